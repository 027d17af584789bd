/** What a pusher reads when a deploy failed: the cause, the last words of what died, what still serves, what to do next. */
import type { FailureCause } from '../failure.ts';
import { type StillThere, stillThereText } from './still-there.ts';

const MAX_LINES = 50;

interface FailureFacts {
  readonly app: string;
  readonly cause: FailureCause;
  readonly message: string;
  readonly hint: string;
  readonly lines: readonly string[];
  readonly still: StillThere;
  /** Its code was not built from source. */
  readonly isImage: boolean;
}

export function failureReport(facts: FailureFacts): string[] {
  if (facts.cause === 'cancelled') {
    return ['', ` !     Deploy cancelled: ${facts.message}`, ` !     ${stillThereText(facts.app, facts.still)}`, ''];
  }
  // What a build printed stands right above.
  const isBuild = facts.cause === 'build_failed';
  const last = isBuild ? [] : facts.lines.slice(-MAX_LINES);
  const more = isBuild ? [] : [` !     More: tancho app log -a ${facts.app}`];
  const next = `Next: fix it, ${facts.isImage ? 'then deploy it again' : 'commit, push again'}.`;
  return [
    '',
    ` !     Deploy failed (${facts.cause}): ${facts.message}`,
    ...(last.length === 0 ? [] : [' !     Its last lines:', ...last.map((line) => `       | ${line}`)]),
    // What is no fault of the code is not to be fixed: the hint says what is to be done.
    ` !     ${facts.hint === '' ? next : facts.hint}`,
    ` !     ${stillThereText(facts.app, facts.still)}`,
    ...more,
    '',
  ];
}
