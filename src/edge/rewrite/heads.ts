import { CHUNKED, UNTIL_CLOSE } from '../http/framing.ts';
import type { RequestHead } from '../http/request-head.ts';
import type { ResponseHead } from '../http/response-head.ts';
import { requestLines, responseLines } from './field-filter.ts';
import type { RequestOrigin } from './request-origin.ts';

/** Left out of answers that have no body: who took them for the length of one would wait for it, or find the next answer in it. */
const FRAMING: readonly string[] = ['content-length', 'transfer-encoding'];
const CODING: readonly string[] = ['transfer-encoding'];
const NOTHING: readonly string[] = [];

/** Protocols that would carry HTTP requests past the edge's own reading of them. */
const NOT_TUNNELLED = new Set(['h2c', 'h2', 'tls/1.0', 'http/2.0']);

/** The protocol a request may switch to, or null: only bodiless requests, never to another kind of HTTP. */
export function tunnelProtocol(head: RequestHead): string | null {
  if (head.upgrade === null || head.bodyLength !== 0) return null;
  return head.upgrade.split(',').some((name) => NOT_TUNNELLED.has(name.trim().toLowerCase())) ? null : head.upgrade;
}

/** The head a unit gets; `isPlatform`: it is the platform's own API, which looks at who of this machine calls it. */
export function headForUnit(head: RequestHead, origin: RequestOrigin, requestId: string, isPlatform = false): string {
  const protocol = tunnelProtocol(head);
  return (
    `${head.method} ${head.target} HTTP/1.1\r\n` +
    requestLines(head.text, head.fields, head.connection) +
    origin.lines(head) +
    (isPlatform ? origin.ports : '') +
    (protocol === null
      ? `X-Request-Id: ${requestId}\r\n\r\n`
      : `X-Request-Id: ${requestId}\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`)
  );
}

interface AnswerForm {
  readonly keepAlive: boolean;
  /** True when a body that ends with the unit's connection goes on as chunks. */
  readonly chunkIt: boolean;
  /** True when a chunked body goes on as its data alone. */
  readonly unwrap: boolean;
}

/** How a unit's answer is put to this client: framing where the two differ, and whether the connection goes on. */
export function answerForm(request: RequestHead, answer: ResponseHead, mayKeepAlive: boolean): AnswerForm {
  const modern = request.minorVersion === 1;
  const endless = answer.bodyLength === UNTIL_CLOSE;
  const unwrap = answer.bodyLength === CHUNKED && !modern;
  const framed = modern ? true : !endless && !unwrap;
  return { keepAlive: mayKeepAlive && request.keepAlive && framed, chunkIt: endless && modern, unwrap };
}

/** What the edge adds to an answer. */
export interface OwnFields {
  readonly requestId: string;
  /** 0: nothing is said. */
  readonly hstsSeconds: number;
  /** A whole field line, or ''. */
  readonly cookie: string;
}

/** The head a client gets for a final answer. */
export function headForClient(request: RequestHead, answer: ResponseHead, form: AnswerForm, own: OwnFields): string {
  const isBodiless = answer.status === 204 || answer.status === 304;
  const drop = isBodiless ? FRAMING : form.unwrap ? CODING : NOTHING;
  const connection = !form.keepAlive
    ? 'Connection: close\r\n'
    : request.minorVersion === 0
      ? 'Connection: keep-alive\r\n'
      : '';
  return (
    `HTTP/1.1 ${answer.statusText}\r\n` +
    responseLines(answer.text, answer.fields, answer.connection, drop) +
    (form.chunkIt ? 'Transfer-Encoding: chunked\r\n' : '') +
    `X-Request-Id: ${own.requestId}\r\n${hstsLine(answer, own.hstsSeconds)}${own.cookie}${connection}\r\n`
  );
}

function hstsLine({ fields }: ResponseHead, seconds: number): string {
  if (seconds === 0 || fields.some(({ name }) => name === 'strict-transport-security')) return '';
  return `Strict-Transport-Security: max-age=${seconds}\r\n`;
}

/** The head of an interim answer (1xx), or of a switch to another protocol when `protocol` is given. */
export function interimHead(answer: ResponseHead, requestId: string, protocol: string | null): string {
  return (
    `HTTP/1.1 ${answer.statusText}\r\n` +
    responseLines(answer.text, answer.fields, answer.connection, FRAMING) +
    (protocol === null ? '\r\n' : `X-Request-Id: ${requestId}\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`)
  );
}
