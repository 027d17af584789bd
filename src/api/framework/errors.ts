/** What the framework finds wrong, and what is thrown on the way of a request, as the answers of the platform. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { PlatformError, toPlatformError } from '../../domain/errors.ts';
import { commonHeaders } from '../answer-headers.ts';
import type { Call } from '../call.ts';
import { DOCUMENT_PATHS } from '../documents.ts';
import { errorAnswer } from '../error-body.ts';
import { methodsAt, type Route } from '../routes.ts';

export function answerNotFound(routes: readonly Route[], request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.url.split('?', 1)[0] ?? '';
  const methods = DOCUMENT_PATHS.includes(path) ? ['GET'] : methodsAt(routes, path);
  if (methods.length === 0) return answerError(nothingHere(), request, reply);
  const allow = methods.sort().join(', ');
  const wrong = new PlatformError('route.method_not_allowed', `This path does not answer to ${request.method}.`, {
    hint: `Use ${allow}.`,
  });
  return answerError(wrong, request, reply.header('allow', allow));
}

export function nothingHere(): PlatformError {
  const hint = 'GET /openapi.json lists what this server serves, /docs explains it.';
  return new PlatformError('route.not_found', 'There is nothing at this path.', { hint });
}

export function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = fromFramework(thrown, request);
  // A URL that cannot be decoded fails before any hook has run.
  const call = request.call as Call | undefined;
  call?.failed(thrown, error);
  const answered = errorAnswer(error, request.headers.accept, request.id);
  return reply
    .code(answered.status)
    .headers({ ...commonHeaders(request.id), ...answered.headers })
    .serializer((body: string) => body)
    .send(answered.body);
}

/** What the framework itself finds wrong with a request, in the words of the platform. */
function fromFramework(thrown: unknown, request: FastifyRequest): PlatformError {
  if (!(thrown instanceof Error) || thrown instanceof PlatformError) return toPlatformError(thrown);
  const { validation, validationContext, statusCode = 500 } = thrown as Partial<FastifyError>;
  if (validation !== undefined) {
    if (validationContext === 'body' && request.body === undefined) {
      return new PlatformError('input.invalid_json', 'The request has no body.', { hint: 'Send a JSON object.' });
    }
    const [first] = validation;
    const field = first?.instancePath.slice(1) ?? '';
    const problem = (first?.message ?? 'is invalid').replace(/,(?:null|array)$/, '');
    return new PlatformError('input.invalid', `${field === '' ? 'The request body' : field} ${problem}.`, {
      hint: 'GET /openapi.json shows what this operation takes.',
      ...(field !== '' && { details: { field } }),
    });
  }
  if (statusCode === 413) {
    return new PlatformError('input.too_large', 'The request body is too large.', { hint: 'Send less at once.' });
  }
  if (statusCode >= 400 && statusCode < 500) {
    return new PlatformError('input.invalid', 'The request cannot be understood.', { cause: thrown });
  }
  return toPlatformError(thrown);
}
