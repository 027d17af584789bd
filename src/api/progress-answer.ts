/** Answers of operations that tell what they do (restart, env, removal) and of commands: JSON stream lines, or raw output. */
import { toPlatformError } from '../domain/errors.ts';
import { errorText } from './error-body.ts';
import type { CommandOutput } from './operation.ts';
import type { ResponseStream } from './response-stream.ts';

export const JSON_STREAM = 'application/x-json-stream';
/** How long lines are held back, so that what fails soon is answered with a status instead of a line. */
const HOLD_MS = 2_000;

export interface AnswerOptions {
  /** Told of every failure that could no longer be answered with a status. */
  readonly onLateError: (thrown: unknown) => void;
  readonly holdMs?: number;
}

/** Rejects only while nothing has been sent; later failures become an error line. */
export async function answerProgress(
  stream: ResponseStream,
  work: (say: (line: string) => void) => Promise<void>,
  options: AnswerOptions,
): Promise<void> {
  let held: string[] | null = [];
  const release = (): void => {
    if (held === null || held.length === 0) return;
    const lines = held.join('');
    held = null;
    stream.start({ 'content-type': JSON_STREAM });
    stream.write(lines);
  };
  let due = false;
  const timer = setTimeout(() => {
    due = true;
    release();
  }, options.holdMs ?? HOLD_MS);
  try {
    await work((line) => {
      const piece = frame(`${line}\n`);
      if (held === null) stream.write(piece);
      else held.push(piece);
      if (due) release();
    });
    stream.start({ 'content-type': JSON_STREAM });
    if (held !== null) stream.write(held.join(''));
  } catch (thrown) {
    if (!stream.started) throw thrown;
    options.onLateError(thrown);
    stream.write(errorFrame(errorText(toPlatformError(thrown))));
  } finally {
    clearTimeout(timer);
  }
  stream.end();
}

/** Whoever hears nothing for so long is told to wait, so that nothing in between takes the connection for dead. */
const SILENCE_MS = 30_000;

/**
 * What a deploy says, from its first line on: what fails before that is answered with a status. As text it ends in `OK`
 * alone on the last line, or in the error; that is how clients of this API tell one from the other.
 */
export async function answerDeploy(
  stream: ResponseStream,
  work: (say: (line: string) => void) => Promise<void>,
  options: AnswerOptions & { readonly asText: boolean; readonly silenceMs?: number },
): Promise<void> {
  const { asText, silenceMs = SILENCE_MS } = options;
  const headers = { 'content-type': asText ? 'text/plain; charset=utf-8' : JSON_STREAM };
  const write = (line: string): void => {
    stream.start(headers);
    stream.write(asText ? `${line}\n` : frame(`${line}\n`));
  };
  const timer = setInterval(() => {
    if (stream.started) stream.write(asText ? 'please wait...\n' : '\n');
  }, silenceMs);
  try {
    await work((line) => {
      timer.refresh();
      write(line);
    });
    stream.start(headers);
    if (asText) stream.write('\nOK\n');
  } catch (thrown) {
    if (!stream.started) throw thrown;
    options.onLateError(thrown);
    const error = toPlatformError(thrown);
    stream.write(asText ? `${error.message}\n` : errorFrame(errorText(error)));
  } finally {
    clearInterval(timer);
  }
  stream.end();
}

/** The output of a command as it comes. A command that ran is a success of the request, whatever its exit code. */
export async function answerOutput(
  stream: ResponseStream,
  work: (output: CommandOutput) => Promise<number>,
  options: AnswerOptions & { readonly raw: boolean },
): Promise<void> {
  const headers = options.raw
    ? { 'content-type': 'text/plain; charset=utf-8', trailer: 'X-Exit-Code, X-Tancho-Error' }
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

function errorFrame(message: string): string {
  return `${JSON.stringify({ Message: '', Error: message })}\n`;
}
