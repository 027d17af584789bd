/** Answers of operations that report what they do (restart, env, removal) and of commands: JSON stream lines, or raw output. */
import { type PlatformError, toPlatformError } from '../domain/errors.ts';
import { errorText } from './error-body.ts';
import type { CommandOutput } from './operation.ts';
import type { ResponseStream } from './response-stream.ts';

export const JSON_STREAM = 'application/x-json-stream';
const TEXT_TYPE = 'text/plain; charset=utf-8';
const MOST_HELD = 1024 * 1024;
/** How long lines are held back, so that what fails soon is answered with a status instead of a line. */
export const SOON_MS = 2_000;
/** Until the work has ended: for whoever reads nothing but the status. */
export const UNTIL_THE_END = Infinity;
/** After so long a silence a line says to wait, so that nothing in between takes the connection for dead. */
const SILENCE_MS = 30_000;

interface LateErrorOptions {
  /** Gets every failure that could no longer be answered with a status. */
  readonly onLateError: (thrown: unknown) => void;
}

interface ProgressOptions extends LateErrorOptions {
  /** How long what is said is held back; the status with it. */
  readonly holdMs: number;
  /** Plain lines instead of JSON stream lines. */
  readonly asText: boolean;
  /** What a text ends in when the work is done; with one, a text that fails late ends in the message of the error alone. */
  readonly textEnd?: string;
  /** See ProgressOperation. */
  readonly asLine?: (error: PlatformError) => string | null;
  /** How long an answer that has begun may be silent. */
  readonly silenceMs?: number;
}

/**
 * What an operation says while it is at work. Rejects only while nothing has been sent; later failures become the last line. The
 * status is sent with the first line that is not held back, so that a failure until then has its own.
 */
export async function answerProgress(
  stream: ResponseStream,
  work: (say: (line: string) => void) => Promise<void>,
  options: ProgressOptions,
): Promise<void> {
  const { asText, holdMs, textEnd = '', silenceMs = SILENCE_MS } = options;
  const headers = { 'content-type': asText ? TEXT_TYPE : JSON_STREAM };
  const held = new HeldLines(asText);
  let isDue = holdMs === 0;
  const release = (): void => {
    if (held.isEmpty) return;
    stream.start(headers);
    stream.write(held.take());
  };
  const due = (): void => {
    isDue = true;
    release();
  };
  const timer = Number.isFinite(holdMs) && !isDue ? setTimeout(due, holdMs) : undefined;
  const waiting = setInterval(() => {
    if (stream.started) stream.write(asText ? 'please wait...\n' : '\n');
  }, silenceMs);
  try {
    await work((line) => {
      held.add(line);
      waiting.refresh();
      if (isDue) release();
    });
    stream.start(headers);
    stream.write(held.take() + (asText ? textEnd : ''));
  } catch (thrown) {
    const error = toPlatformError(thrown);
    const beside = stream.started ? null : (options.asLine?.(error) ?? null);
    if (!stream.started && beside === null) throw thrown;
    options.onLateError(thrown);
    stream.start(headers);
    if (beside !== null) stream.write(errorFrame(error.message, beside));
    else stream.write(asText ? `${error.message}\n` : errorFrame(errorText(error)));
  } finally {
    clearTimeout(timer);
    clearInterval(waiting);
  }
  stream.end();
}

/** What was said and not sent yet: the newest MOST_HELD characters of it. */
class HeldLines {
  readonly #asText: boolean;
  #lines: string[] = [];
  #size = 0;
  #leftOut = 0;

  constructor(asText: boolean) {
    this.#asText = asText;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  add(line: string): void {
    this.#lines.push(line);
    this.#size += line.length;
    while (this.#size > MOST_HELD && this.#lines.length > 1) {
      this.#size -= this.#lines.shift()?.length ?? 0;
      this.#leftOut += 1;
    }
  }

  /** As it is sent; nothing is held afterwards. */
  take(): string {
    const gap = this.#leftOut === 0 ? [] : [`(${this.#leftOut} earlier lines are left out)`];
    const lines = [...gap, ...this.#lines].map((line) => (this.#asText ? `${line}\n` : frame(`${line}\n`)));
    this.#lines = [];
    this.#size = 0;
    this.#leftOut = 0;
    return lines.join('');
  }
}

/** The output of a command as it comes. A command that ran is a success of the request, whatever its exit code. */
export async function answerOutput(
  stream: ResponseStream,
  work: (output: CommandOutput) => Promise<number>,
  options: LateErrorOptions & { readonly raw: boolean },
): Promise<void> {
  const headers = options.raw
    ? { 'content-type': TEXT_TYPE, trailer: 'X-Exit-Code, X-Tancho-Error' }
    : { 'content-type': JSON_STREAM };
  const decoder = new TextDecoder();
  const send: CommandOutput = (bytes) => {
    stream.start(headers);
    const text = options.raw ? '' : decoder.decode(bytes, { stream: true });
    if (options.raw) stream.write(bytes);
    else if (text !== '') stream.write(frame(text));
    return stream.isBehind ? stream.drained() : undefined;
  };
  const finish = (message: string, trailers: Readonly<Record<string, string>>): void => {
    stream.start(headers);
    const rest = decoder.decode();
    if (!options.raw && rest !== '') stream.write(frame(rest));
    if (!options.raw && message !== '') stream.write(errorFrame(message));
    stream.end(options.raw ? trailers : undefined);
  };
  try {
    const code = await work(send);
    finish(code === 0 ? '' : `exit code ${code}`, { 'X-Exit-Code': String(code) });
  } catch (thrown) {
    if (!stream.started) throw thrown;
    options.onLateError(thrown);
    const error = toPlatformError(thrown);
    finish(errorText(error), { 'X-Tancho-Error': error.code });
  }
}

function frame(message: string): string {
  return `${JSON.stringify({ Message: message })}\n`;
}

function errorFrame(error: string, message = ''): string {
  return `${JSON.stringify({ Message: message, Error: error })}\n`;
}
