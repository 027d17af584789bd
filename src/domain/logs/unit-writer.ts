/** Writes what a unit prints to the log: entries of its lines, private values replaced, and the cursor with them. */
import { PartRedactor } from '../../lib/redact-parts.ts';
import { type Redactor, redactorOf } from '../../lib/redact.ts';
import type { MissingOutput, OutputChunk } from '../units/provisioner.ts';
import { unitName } from '../units/unit.ts';
import type { LogEntry } from './entry.ts';
import type { Journal } from './journal.ts';
import type { PrintingUnit } from './output-carrier.ts';

export class UnitWriter {
  readonly #unit: PrintingUnit;
  readonly #journal: Pick<Journal, 'append'>;
  readonly #redact: Redactor;
  readonly #parts: PartRedactor;
  #stored: string;
  #after: string | null | undefined;

  /** `forms`: see secretForms(); `before`: see PartRedactor. */
  constructor(unit: PrintingUnit, journal: Pick<Journal, 'append'>, forms: readonly string[], before = '') {
    this.#unit = unit;
    this.#journal = journal;
    const redact = redactorOf(forms);
    // In one piece: chunks are small, and the collector measures how long it takes, to have output that takes long carried elsewhere.
    this.#redact = (text) => redact(text);
    this.#parts = new PartRedactor(forms);
    this.#stored = before;
  }

  /** Of what is stored, the end of the line that goes on. */
  get before(): string {
    return this.#stored;
  }

  set before(before: string) {
    this.#stored = before;
  }

  /** The cursor that is stored, null where none is; until it is said, or something was written, it may be any. */
  set after(after: string | null) {
    this.#after = after;
  }

  /** Throws `app.busy` when somebody else has stored output of the unit since. Answers how many entries it has become. What fails is stored as a whole or not at all. */
  async write(chunk: OutputChunk): Promise<number> {
    this.#parts.before = this.#stored;
    const lines = chunk.lines.map((line) => ({ ...line, text: this.#parts.redact(line) }));
    const entries = entriesOf(this.#unit, { ...chunk, lines }, new Date());
    const after = this.#after === undefined ? {} : { after: this.#after };
    await this.#journal.append(entries, this.#redact, { unitId: this.#unit.id, cursor: chunk.cursor, ...after });
    this.#after = chunk.cursor;
    this.#stored = this.#parts.before;
    return entries.length;
  }
}

function entriesOf(unit: PrintingUnit, { missing, lines }: OutputChunk, now: Date): LogEntry[] {
  const own = { seq: 0, app: unit.app, unit: unitName(unit), unitId: unit.id, release: unit.release };
  const entries = lines.map(({ at, text }) => ({ ...own, at, source: unit.process, message: text }));
  if (missing === undefined) return entries;
  const at = lines[0]?.at ?? now.toISOString();
  return [{ ...own, at, source: 'tancho', message: gapMessage(missing) }, ...entries];
}

function gapMessage({ lines, bytes, why }: MissingOutput): string {
  const what = lines === 1 ? '1 line is' : `${lines ?? 'Many'} lines are`;
  const reason = why === 'no room' ? 'the disk of the server was full' : 'more was printed than can be read in time';
  return `${what} missing here (${bytes} bytes): ${reason}.`;
}
