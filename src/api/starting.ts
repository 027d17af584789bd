/** What is answered while the server starts: nobody waits, for balancers and edges that ask other servers, too. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { STARTING } from '../domain/starting.ts';
import type { Logger } from '../lib/logger.ts';
import { commonHeaders } from './answer-headers.ts';
import { errorAnswer } from './error-body.ts';
import { limitBodyTime, requestId } from './incoming.ts';

export function refuseWhileStarting(request: IncomingMessage, response: ServerResponse, logger: Logger): void {
  const id = requestId(request);
  const { status, headers, body } = errorAnswer(STARTING, request.headers.accept, id);
  limitBodyTime(request);
  response.writeHead(status, { ...commonHeaders(id), ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  const path = request.url?.split('?', 1)[0];
  logger.debug({ reqId: id, method: request.method, path, status }, 'refused while the server starts');
}
