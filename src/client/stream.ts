/** Answers that come in lines: progress (application/x-json-stream) and the log. */
import { StringDecoder } from 'node:string_decoder';
import { ClientError, errorFromFrame, parseObject } from './errors.ts';
import { type HttpResponse, badAnswer, chunksOf } from './transport.ts';

/** Longest line taken, in characters. */
const MAX_LINE = 16 * 1024 * 1024;

/** Complete lines, without blank ones (a server sends those to keep the connection alive). */
async function* linesOf(answer: HttpResponse, name: string): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of chunksOf(answer.body, name)) {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) throw badAnswer(`A line of the answer of ${name} is too long.`, answer.status);
    for (const line of lines) if (line.trim() !== '') yield line;
  }
  rest += decoder.end();
  if (rest.trim() !== '') yield rest;
}

/** Gives every message to `say`, as it was sent; an error frame is thrown once the stream has ended. */
export async function readProgress(answer: HttpResponse, name: string, say: (message: string) => void): Promise<void> {
  let failure: ClientError | null = null;
  for await (const line of linesOf(answer, name)) {
    const frame = parseObject(line);
    if (frame === null) {
      // Servers of this API may repeat the error's text as a last plain line.
      if (failure !== null) continue;
      throw badAnswer(`The platform at ${name} sent a line that is not JSON.`, answer.status);
    }
    const { Message: message } = frame;
    if (typeof message === 'string' && message !== '') say(message);
    if (typeof frame['Error'] === 'string' && frame['Error'] !== '') failure = errorFromFrame(frame, answer.requestId);
  }
  if (failure !== null) throw failure;
}

/** Each line is a JSON array; gives the arrays. */
export async function* readArrays(answer: HttpResponse, name: string): AsyncGenerator<unknown[]> {
  for await (const line of linesOf(answer, name)) {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      throw new ClientError(`The platform at ${name} sent a line that is not JSON.`, {
        status: answer.status,
        code: 'client.bad_answer',
        cause: error,
      });
    }
    if (Array.isArray(value)) yield value;
    else throw errorFromFrame(parseObject(line) ?? {}, answer.requestId);
  }
}
