/** What is thrown on the way of a request, and paths where there is nothing, as the answers of the platform. */
import type { IncomingMessage } from 'node:http';
import { PlatformError, toPlatformError } from '../../domain/errors.ts';
import type { Call } from '../call.ts';
import { DOCUMENT_PATHS } from '../documents.ts';
import { errorAnswer } from '../error-body.ts';
import { methodsAt, type ApiRoute } from '../routes.ts';
import type { Reply } from './reply.ts';

/** So much of a refused body is read and thrown away. */
const MOST_UNREAD_BYTES = 8 * 1024 * 1024;

export function answerError(thrown: unknown, request: IncomingMessage, call: Call, reply: Reply): void {
  const error = call.failed(thrown, toPlatformError(thrown));
  if (reply.isTaken) return reply.cut();
  const { status, headers, body } = errorAnswer(error, request.headers.accept, call.id);
  // What the client goes on to send is not waited for, unless it is little: who is cut off while it sends may read no answer.
  const isLittle = Number(request.headers['content-length'] ?? Infinity) <= MOST_UNREAD_BYTES;
  if (error.code === 'input.too_large' && !isLittle) reply.addHeaders({ connection: 'close' });
  reply.send(status, body, headers);
}

export function nothingHere(): PlatformError {
  const hint = 'GET /openapi.json lists what this server serves, /docs explains it.';
  return new PlatformError('route.not_found', 'There is nothing at this path.', { hint });
}

/** For a path that is known under other methods, `allow` names them. */
export function notServed(
  routes: readonly ApiRoute[],
  request: IncomingMessage,
): { error: PlatformError; allow: string } {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '';
  const methods = DOCUMENT_PATHS.includes(path) ? ['GET'] : methodsAt(routes, path);
  if (methods.length === 0) return { error: nothingHere(), allow: '' };
  const allow = methods.sort().join(', ');
  const error = new PlatformError('route.method_not_allowed', `This path does not answer to ${request.method}.`, {
    hint: `Use ${allow}.`,
  });
  return { error, allow };
}

export function unreadablePath(): PlatformError {
  return new PlatformError('input.invalid', 'The path of the request cannot be understood.', {
    hint: 'Encode what stands in it as UTF-8, each "%" as "%25", and keep its parts below 1,024 characters.',
  });
}
