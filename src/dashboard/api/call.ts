/** Requests to the API of the server that this page is from. The session is in a cookie that no script can read. */
import { connectionLost, connectionThere } from './connection.ts';
import { ndjson } from './lines.ts';
import type { AnswerOf, AnyInput, Inputs, Line } from './operations.ts';
import { lost, Problem, problemOf, problemOfAnswer, strange } from './problem.ts';
import { sessionEnded } from './session.ts';

const BASE = '/dashboard/api';

/** For what is only read, to its last byte. What changes something takes as long as it takes. */
const READ_MS = 60_000;

/** Throws Problem; an AbortError passes as it is. */
export async function call<L extends Line>(line: L, ...[input]: Inputs<L>): Promise<AnswerOf<L>> {
  const given: AnyInput = input ?? {};
  const { response, text } = await answerOf(
    line,
    line.startsWith('GET ') ? { ...given, signal: inTime(given) } : given,
  );
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return (isJson && text !== '' ? JSON.parse(text) : text) as AnswerOf<L>;
}

function inTime({ signal }: AnyInput): AbortSignal {
  const late = AbortSignal.timeout(READ_MS);
  return signal === undefined ? late : AbortSignal.any([signal, late]);
}

/** A server that takes a request and never answers is as good as away. */
async function answerOf(line: Line, input: AnyInput): Promise<{ response: Response; text: string }> {
  try {
    const response = await ask(line, input, 'application/json');
    return { response, text: await response.text() };
  } catch (thrown) {
    const isCut = thrown instanceof TypeError || (thrown instanceof DOMException && thrown.name === 'TimeoutError');
    if (!isCut) throw thrown;
    connectionLost();
    throw lost();
  }
}

/** For operations that report what they do while they do it: `said` gets every line. Resolves at the end; throws Problem. */
export async function perform<L extends Line>(
  line: L,
  said: (text: string) => void,
  ...input: Inputs<L>
): Promise<void> {
  await (
    await begin(line, ...input)
  )(said);
}

/** Resolves when the server has taken it on, to what follows it to its end; throws Problem for what is refused at once. */
export async function begin<L extends Line>(
  line: L,
  ...[input]: Inputs<L>
): Promise<(said: (text: string) => void) => Promise<void>> {
  const response = await ask(line, input as AnyInput | undefined, 'application/x-json-stream, application/json');
  return (said) => readProgress(response, said);
}

/** What an operation says, to its end. */
async function readProgress(response: Response, said: (text: string) => void): Promise<void> {
  for await (const frame of ndjson(response)) {
    const { Message: message = '', Error: error = '' } = frame as { Message?: string; Error?: string };
    if (message !== '') said(message);
    if (error !== '') throw new Problem(error, { code: 'operation', status: response.status });
  }
}

/** The answer as it comes, its status below 400. */
export async function ask(line: Line, input: AnyInput = {}, accept = '*/*'): Promise<Response> {
  const [method = 'GET', template = ''] = line.split(' ');
  const { body } = input;
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(input.params?.[name] ?? ''));
  const isRaw = typeof body === 'string' || body instanceof FormData || body instanceof Blob;
  return send(`${path}${queryOf(input.query)}`, {
    method,
    headers: {
      accept,
      ...(body !== undefined && !isRaw && { 'content-type': 'application/json' }),
      ...(typeof body === 'string' && { 'content-type': 'text/plain' }),
    },
    ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
    ...(input.signal !== undefined && { signal: input.signal }),
  });
}

async function send(path: string, request: RequestInit & { headers: Record<string, string> }): Promise<Response> {
  let response: Response;
  try {
    const headers = { ...request.headers, 'x-tancho-dashboard': '1' };
    response = await fetch(BASE + path, { ...request, headers, credentials: 'same-origin', cache: 'no-store' });
  } catch (thrown) {
    if (request.signal?.aborted === true) throw thrown;
    connectionLost();
    throw problemOf(thrown);
  }
  connectionThere();
  const isPage = response.headers.get('content-type')?.startsWith('text/html') === true;
  if (response.ok && isPage) throw strange(response.status, '');
  if (response.ok) return response;
  const problem = await problemOfAnswer(response);
  if (problem.code === 'auth.required') sessionEnded();
  throw problem;
}

function queryOf(query: AnyInput['query']): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

/** Of a websocket to the API. */
export function socketUrl(path: string, query: Readonly<Record<string, string>>): string {
  return `${location.origin.replace(/^http/, 'ws')}${BASE}${path}${queryOf(query)}`;
}
