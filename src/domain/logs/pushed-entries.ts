/** Pure: what a program hands in, as entries of a log. */
import { PlatformError } from '../errors.ts';
import { ROUTER_SOURCE } from './access-lines.ts';
import type { LogEntry } from './entry.ts';

const MAX_LINES = 5_000;
/** Each is looked through for all that is private. */
const MAX_CHARACTERS = 1024 * 1024;
const NAME = /^[\w./:@-]{1,100}$/;
/** What the platform itself says cannot be said by others. */
const OWN_SOURCES: ReadonlySet<string> = new Set(['tancho', ROUTER_SOURCE]);

export interface LogPush {
  /** Array of texts; each may hold several lines, and empty ones are left out. */
  readonly lines: unknown;
  /** '': `app`. */
  readonly source: string;
  /** '': `api`. */
  readonly unit: string;
}

/** Throws `input.invalid`, `input.too_large`. */
export function pushedEntries(app: string, push: LogPush, at: Date): LogEntry[] {
  const source = name('source', push.source, 'app');
  const unit = name('unit', push.unit, 'api');
  if (OWN_SOURCES.has(source)) {
    throw new PlatformError('input.invalid', `The source "${source}" is that of the platform itself.`, {
      hint: 'Send another source, or none.',
    });
  }
  if (!Array.isArray(push.lines) || push.lines.some((line) => typeof line !== 'string')) {
    throw new PlatformError('input.invalid', 'The lines must be a JSON array of texts.', {
      hint: 'Send for example ["first line", "second line"].',
    });
  }
  const lines = (push.lines as string[]).flatMap((text) => text.split(/\r?\n/)).filter((line) => line.trim() !== '');
  const characters = lines.reduce((sum, { length }) => sum + length, 0);
  if (lines.length > MAX_LINES || characters > MAX_CHARACTERS) {
    const most = `At most ${MAX_LINES} lines, and ${MAX_CHARACTERS} characters, are taken at once.`;
    throw new PlatformError('input.too_large', most, {
      hint: 'Send them in several requests.',
    });
  }
  const rest = { seq: 0, at: at.toISOString(), app, source, unit, unitId: '', release: 0 };
  return lines.map((message) => ({ ...rest, message }));
}

function name(what: string, given: string, otherwise: string): string {
  if (given === '') return otherwise;
  if (NAME.test(given)) return given;
  throw new PlatformError('input.invalid', `"${what}" has at most 100 letters, digits and -_./:@.`);
}
