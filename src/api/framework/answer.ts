/** Calls an operation, and answers with what it gives in the way that the operation names. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OutgoingHttpHeaders } from 'node:http';
import { PlatformError } from '../../domain/errors.ts';
import type { UseCases } from '../../domain/use-cases.ts';
import { JSON_TYPE } from '../answer-headers.ts';
import { type Asked, wayOfDeploy, wayOfProgress } from '../answer-way.ts';
import type { RawBody } from '../body.ts';
import { CallContext } from '../call.ts';
import { prefersText } from '../error-body.ts';
import { answerEvents } from '../event-answer.ts';
import { answerFollow } from '../follow-answer.ts';
import { isVersioned, limitBodyTime } from '../incoming.ts';
import { isOldest, oldestForm } from '../oldest.ts';
import type { Input } from '../operation.ts';
import { answerOutput, answerProgress } from '../progress-answer.ts';
import { answeredHeaders, askedHeaders } from '../proxied-answer.ts';
import { ResponseStream } from '../response-stream.ts';
import type { Route } from '../routes.ts';
import { demandSize, pendingUpload } from '../upload-body.ts';
import { serialized } from './schemas-on-demand.ts';
import type { Variant } from '../variants.ts';

export interface AnswerOptions {
  readonly useCases: UseCases;
  readonly version: string;
  readonly ready: () => Promise<void>;
}

const EMPTY_BODY: RawBody = { text: '', mediaType: '' };

export async function answer(
  { operation, variant }: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  { useCases, version, ready }: AnswerOptions,
): Promise<unknown> {
  const { call } = request;
  const context = new CallContext(call, useCases, { version, ready });
  const body = operation.body === undefined ? (request.body ?? EMPTY_BODY) : request.body;
  const input: Input<unknown, unknown, unknown> = { params: request.params, query: request.query, body };
  const late = { onLateError: (thrown: unknown): void => void call.failed(thrown) };
  switch (operation.answer) {
    case 'json': {
      const wire = variant.shapes[operation.shape].toWire((await operation.handle(context, input)) as never);
      if (isOldest(request.raw) && variant.extensions) {
        const { schema } = variant.shapes[operation.shape];
        const form = oldestForm(operation.shape, () => serialized(schema, wire));
        if (form !== null) return reply.type(JSON_TYPE).send(form);
      }
      // The framework takes a text for a document that is written already.
      if (typeof wire !== 'string') return wire;
      return reply.type(JSON_TYPE).send(JSON.stringify(wire));
    }
    case 'text':
      return reply.type('text/plain; charset=utf-8').send(await operation.handle(context, input));
    case 'empty':
      await operation.handle(context, input);
      if (call.cookie !== '') reply.header('set-cookie', call.cookie);
      return reply.code(operation.status ?? 200).send();
    case 'proxied': {
      const bytes = request.body instanceof Uint8Array ? request.body : new Uint8Array();
      const headers = askedHeaders(request.headers, call.contentType);
      const answered = await operation.handle(context, input, { method: request.method, headers, body: bytes });
      return reply.code(answered.status).headers(answeredHeaders(answered.headers)).send(answered.body);
    }
    case 'progress': {
      const way = wayOfProgress(asked(request, variant), operation.textTo);
      const asLine = (error: PlatformError): string | null => operation.asLine?.(error, input) ?? null;
      const work = (say: (line: string) => void) => operation.handle(context, input, say);
      return answerProgress(streamOf(reply), work, { ...late, ...way, asLine });
    }
    case 'shell':
      await operation.permitted(context, input);
      throw new PlatformError('input.invalid', 'A shell is spoken to over a websocket.', {
        hint: 'Use "tancho app shell", or a client that asks for "Upgrade: websocket".',
      });
    case 'upload': {
      const { raw } = request;
      demandSize(raw);
      call.endBodyLimit();
      const way = wayOfDeploy(asked(request, variant));
      call.outlivesClient = way.holdMs > 0;
      const pending = pendingUpload(raw, call.contentType);
      const work = (say: (line: string) => void) => operation.handle(context, input, pending, say);
      return answerProgress(streamOf(reply), work, { ...late, ...way, textEnd: '\nOK\n' }).finally(() => {
        call.ended();
        // What a refused upload still sends is read and thrown away, for so long.
        if (!raw.complete) limitBodyTime(raw);
      });
    }
    case 'output': {
      const raw = variant.extensions && (isOldest(request.raw) || prefersText(request.headers.accept));
      return answerOutput(streamOf(reply), (output) => operation.handle(context, input, output), { ...late, raw });
    }
    case 'entries': {
      const shape = variant.shapes[operation.shape];
      const found = await operation.handle(context, input);
      if (!(Symbol.asyncIterator in found)) return shape.toWire(found);
      const answerAll = call.wantsEvents ? answerEvents : answerFollow;
      return answerAll(streamOf(reply), found, shape, call.signal);
    }
  }
}

function asked({ raw, method, headers }: FastifyRequest, variant: Variant): Asked {
  return { variant, method, accept: headers.accept, isVersioned: isVersioned(raw), isOldest: isOldest(raw) };
}

/** From its first byte on, the answer is no longer the framework's. */
function streamOf(reply: FastifyReply): ResponseStream {
  return new ResponseStream(reply.raw, () => {
    reply.hijack();
    return reply.getHeaders() as OutgoingHttpHeaders;
  });
}
