/** A query as a caller writes it -> what is read. */
import { PlatformError } from '../errors.ts';
import type { Store } from '../store.ts';
import { seqOf } from './cursor.ts';
import type { LogFilter } from './entry.ts';
import { createMatcher, searchedText } from './matcher.ts';
import { moment } from '../moment.ts';

export interface LogQuery {
  /** Required, a whole number >= 0 (0, or more than an answer has: MOST_LINES); errors: log.lines_required, input.invalid. */
  readonly lines: unknown;
  readonly source?: string;
  readonly unit?: string;
  /** Only what units of this process printed. */
  readonly process?: string;
  /** RFC 3339, or how long ago: `10m`. */
  readonly since?: string;
  /** Entries from then on are left out. Not for who follows. */
  readonly until?: string;
  /** Id of a deploy: only what units printed that ran its code. Errors: deploy.not_found. */
  readonly deploy?: string;
  /** Text that is in the message, in any case; see `regexp`. */
  readonly search?: string;
  /** `search` is a regular expression of RE2. */
  readonly regexp?: boolean;
  /** Cursor: only entries after it, the oldest first ones of them when `lines` says how many. */
  readonly after?: string;
  /** Cursor: only entries before it. Not for who follows. */
  readonly before?: string;
}

const MOST_RELEASES = 1_000;
/** Of one answer; `after` goes on. */
const MOST_LINES = 10_000;

/** Throws `log.lines_required`, `input.invalid`, `deploy.not_found`. */
export async function filterOf(store: Store, app: string, query: LogQuery, now: Date): Promise<LogFilter> {
  const { source = '', unit = '', process = '', since = '', until = '', deploy = '', search = '' } = query;
  const { after = '', before = '' } = query;
  const filter = {
    app,
    lines: parseLines(query.lines),
    ...(source !== '' && { source }),
    ...(unit !== '' && { unit }),
    ...(process !== '' && { process }),
    ...(since !== '' && { since: moment('since', since, now) }),
    ...(until !== '' && { until: moment('until', until, now) }),
    ...(after !== '' && { afterSeq: seqOf('after', after), oldestFirst: true }),
    ...(before !== '' && { beforeSeq: seqOf('before', before) }),
    ...(deploy !== '' && { releases: await releasesOf(store, app, deploy) }),
  };
  if (search === '') return filter;
  if (query.regexp !== true) return { ...filter, contains: searchedText(search) };
  // Whether it is a valid one.
  await createMatcher(search);
  return { ...filter, pattern: search };
}

/** Those with its code: its own, and what changes of the environment made of that. */
async function releasesOf(store: Store, app: string, id: string): Promise<number[]> {
  const deploy = await store.deploy(id);
  if (deploy === null || deploy.app !== app) {
    throw new PlatformError('deploy.not_found', `Deploy ${id.slice(0, 100)} not found.`, {
      hint: `List the deploys of the app: tancho deploy list -a ${app}`,
    });
  }
  const releases = await store.releases(app, MOST_RELEASES);
  const numbers = releases.filter(({ deployId }) => deployId === id).map(({ number }) => number);
  return [...new Set([...numbers, ...(deploy.release === null ? [] : [deploy.release])])];
}

function parseLines(lines: unknown): number {
  if (lines === undefined || lines === null || lines === '') {
    throw new PlatformError('log.lines_required', 'Parameter "lines" is mandatory.', {
      hint: 'Ask for example with ?lines=100.',
    });
  }
  const count = typeof lines === 'number' ? lines : /^\d+$/.test(String(lines)) ? Number(lines) : Number.NaN;
  if (!Number.isSafeInteger(count) || count < 0) {
    throw new PlatformError('input.invalid', 'Parameter "lines" must be an integer.', {
      hint: 'Give a whole number; 0 asks for everything that is kept.',
    });
  }
  return count === 0 ? MOST_LINES : Math.min(count, MOST_LINES);
}
