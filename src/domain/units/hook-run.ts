/** Runs one command of an app beside its units, to its end: a hook. */
import type { EnvVar } from '../apps/app.ts';
import { privateValues } from './private-values.ts';
import type { Journal } from '../logs/journal.ts';
import { Failure } from '../failure.ts';
import type { Say } from '../say.ts';
import type { Provisioner, UnitSpec } from './provisioner.ts';

const LAST_LINES = 50;
/** Of a longer one its end is shown. */
const LONGEST_LINE = 16_384;
/** Kept of it, so that what is hidden in its end is not cut before. */
const KEPT_OF_LINE = 4 * LONGEST_LINE;
const HOOK_TIMEOUT_MS = 5 * 60_000;
const MAX_HOOK_LINES = 2_000;

export interface HookRun {
  readonly spec: UnitSpec;
  /** Its private values are hidden in what the command prints. */
  readonly env: readonly EnvVar[];
  readonly command: string;
  readonly signal: AbortSignal;
  /** For people: `restart hook`. */
  readonly what: string;
  /** 5 minutes when absent. */
  readonly timeoutMs?: number;
  /** As which its output is found in the app's log; `hook` when absent. */
  readonly source?: string;
  readonly say?: Say;
}

/** Its output goes to the app's log; throws Failure `release_command_failed`. */
export async function runHook(
  deps: { readonly journal: Journal; readonly provisioner: Pick<Provisioner, 'exec'> },
  hook: HookRun,
): Promise<void> {
  const { spec, command, signal, what, source = 'hook', say } = hook;
  const { journal, provisioner } = deps;
  const redact = privateValues(hook.env);
  const shownOf = (text: string): string => redact(text).slice(-LONGEST_LINE);
  let noted = Promise.resolve();
  let count = 0;
  const lines = new LineBuffer((text) => {
    count += 1;
    if (count > MAX_HOOK_LINES) return;
    const shown = count === MAX_HOOK_LINES ? '[the rest of the output is not shown]' : shownOf(text);
    say?.(shown);
    noted = noted.then(() => journal.note(spec.app, shown, source));
  });
  const output = (bytes: Uint8Array): void => lines.push(bytes);
  const { timeoutMs = HOOK_TIMEOUT_MS } = hook;
  const request = { unit: spec, command, output, signal, timeoutMs };
  const result = await provisioner.exec(request).finally(async () => {
    lines.end();
    await noted;
  });
  if (result.code === 0) return;
  const how =
    result.code === null ? `was ended by ${result.signal ?? 'a time-out'}` : `exited with code ${result.code}`;
  throw new Failure('release_command_failed', `The ${what} "${command}" ${how}.`, {
    lines: lines.last.map(shownOf),
    hint: 'Correct what it does, or the command itself, and push again.',
  });
}

/** Cuts raw output into lines; remembers the end of the last ones. */
class LineBuffer {
  readonly last: string[] = [];
  readonly #line: (text: string) => void;
  readonly #decoder = new TextDecoder();
  #rest = '';

  constructor(line: (text: string) => void) {
    this.#line = line;
  }

  push(bytes: Uint8Array): void {
    const parts = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n');
    this.#rest = (parts.pop() ?? '').slice(-KEPT_OF_LINE);
    for (const part of parts) this.#emit(part);
  }

  end(): void {
    if (this.#rest !== '') this.#emit(this.#rest);
    this.#rest = '';
  }

  #emit(text: string): void {
    this.#line(text);
    this.last.push(text.slice(-KEPT_OF_LINE));
    if (this.last.length > LAST_LINES) this.last.shift();
  }
}
