/** What a build prints, on its way to people: whole lines, free of secrets and terminal tricks, bounded. */
import { StringDecoder } from 'node:string_decoder';
import { createRedactor, type Redactor } from '../../../../lib/redact.ts';
import { withoutSteering } from '../../../../lib/steering.ts';
import { withoutTrailing } from '../../../../lib/without-trailing.ts';
import { Advice } from './advice.ts';

const MAX_LINE = 4096;
const MAX_PENDING = 64 * 1024;
const MAX_LINES = 20_000;
const TAIL = 50;

/** Cuts a stream into lines. Of text overwritten with carriage returns (progress bars) the last state remains. */
export class TerminalLines {
  readonly #decoder = new StringDecoder('utf8');
  readonly #line: (text: string) => void;
  #pending = '';

  constructor(line: (text: string) => void) {
    this.#line = line;
  }

  push(bytes: Uint8Array): void {
    const parts = (this.#pending + this.#decoder.write(Buffer.from(bytes))).split('\n');
    this.#pending = bounded(parts.pop() ?? '');
    for (const part of parts) this.#line(lastState(part));
  }

  end(): void {
    const rest = lastState(this.#pending + this.#decoder.end());
    this.#pending = '';
    if (rest !== '') this.#line(rest);
  }
}

function lastState(line: string): string {
  const text = withoutTrailing(line, '\r');
  return text.slice(text.lastIndexOf('\r') + 1);
}

function bounded(pending: string): string {
  const last = pending.lastIndexOf('\r', pending.length - 2);
  return pending.slice(last + 1).slice(0, MAX_PENDING);
}

export class BuildOutput {
  readonly #line: (text: string) => void;
  readonly #redact: Redactor;
  #tail: string[] = [];
  #advice = new Advice();
  /** The newest of those that are not shown, as they came: who prints without end is not to keep this process busy. */
  #unseen: string[] = [];
  #count = 0;

  constructor(line: (text: string) => void, secrets: readonly string[]) {
    this.#line = line;
    this.#redact = createRedactor(secrets);
  }

  /** The platform's own words. */
  say(text: string): void {
    this.#line(this.#redact(text));
  }

  /** A line printed by a step. */
  printed(raw: string): void {
    this.#count += 1;
    if (this.#count > MAX_LINES) {
      this.#unseen.push(raw);
      if (this.#unseen.length >= 2 * TAIL) this.#unseen.splice(0, TAIL);
      return;
    }
    this.#line(this.#take(raw));
    if (this.#count === MAX_LINES) this.#line(`(more than ${MAX_LINES} lines; the rest is not shown)`);
  }

  #take(raw: string): string {
    const text = this.#redact(withoutSteering(raw)).trimEnd();
    const shown = text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)} ...` : text;
    this.#advice.look(shown);
    this.#tail.push(shown);
    if (this.#tail.length > TAIL) this.#tail.shift();
    return shown;
  }

  #takeUnseen(): void {
    for (const raw of this.#unseen.splice(0).slice(-TAIL)) this.#take(raw);
  }

  /** A new step begins: its last lines are its own. */
  begin(): void {
    this.#tail = [];
    this.#unseen = [];
    this.#advice = new Advice();
  }

  /** What to do about what the step that runs or ran has printed; null when that is not known. */
  get advice(): string | null {
    this.#takeUnseen();
    return this.#advice.text;
  }

  /** What went wrong with it, as half a sentence; null when that is not known. */
  get cause(): string | null {
    this.#takeUnseen();
    return this.#advice.cause;
  }

  /** The last lines of the step that runs or ran. */
  get tail(): readonly string[] {
    this.#takeUnseen();
    return this.#tail;
  }
}
