import { STATUS_TITLES } from './status-titles.ts';

export interface OwnAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly requestId: string;
  /** Field lines, each with its CRLF. */
  readonly fields: string;
  readonly method: string;
  readonly keepAlive: boolean;
}

/** A whole answer of the edge's own: head and body. */
export function ownAnswer(answer: OwnAnswer): string {
  return (
    `HTTP/1.1 ${answer.status} ${STATUS_TITLES[answer.status] ?? 'Error'}\r\n` +
    `Content-Type: ${answer.type}\r\n` +
    `Content-Length: ${Buffer.byteLength(answer.body)}\r\n` +
    'X-Content-Type-Options: nosniff\r\n' +
    answer.fields +
    `X-Request-Id: ${answer.requestId}\r\n` +
    `Date: ${new Date().toUTCString()}\r\n` +
    `Connection: ${answer.keepAlive ? 'keep-alive' : 'close'}\r\n\r\n` +
    (answer.method === 'HEAD' ? '' : answer.body)
  );
}
