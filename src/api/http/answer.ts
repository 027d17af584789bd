/** Calls an operation, and answers with what it gives in the way that the operation names. */
import type { IncomingMessage } from 'node:http';
import { PlatformError } from '../../domain/errors.ts';
import type { UseCases } from '../../domain/use-cases.ts';
import { type AnswerRequest, wayOfDeploy, wayOfProgress } from '../answer-way.ts';
import type { RawBody } from '../body.ts';
import { type Call, CallContext } from '../call.ts';
import { prefersText } from '../error-body.ts';
import { once } from '../../lib/once.ts';
import { answerEvents } from '../event-answer.ts';
import { answerFollow } from '../follow-answer.ts';
import { isVersioned, limitBodyTime } from '../incoming.ts';
import { isOldest, oldestForm } from '../oldest.ts';
import type { Input } from '../operation.ts';
import { answerOutput, answerProgress } from '../progress-answer.ts';
import { answeredHeaders, askedHeaders } from '../proxied-answer.ts';
import type { ApiRoute } from '../routes.ts';
import { demandSize, pendingUpload } from '../upload-body.ts';
import type { Reply } from './reply.ts';
import type { Shape } from '../shapes/shape.ts';
import type { StandingAnswers } from '../standing-answers.ts';
import type { ShapeName, Variant } from '../variants.ts';

export interface AnswerOptions {
  readonly useCases: UseCases;
  readonly version: string;
  readonly ready: () => Promise<void>;
  /** Gets every answer that stands; null when none does. */
  readonly standing: StandingAnswers | null;
}

/** A request that may be answered: who asks is known, and what it brings fits the schemas of the operation. */
interface Admitted {
  readonly route: ApiRoute;
  readonly request: IncomingMessage;
  readonly call: Call;
  readonly params: unknown;
  readonly query: unknown;
  /** Bytes for what is handed on, undefined where there is none. */
  readonly body: unknown;
}

/** Loaded with the first answer. */
const serialization = once(() => import('./serialize.ts'));
const EMPTY_BODY: RawBody = { text: '', mediaType: '' };

/** Throws what is to be answered as an error; resolves when the answer is on its way. */
export async function answer(admitted: Admitted, reply: Reply, options: AnswerOptions): Promise<void> {
  const { call, request, params, query } = admitted;
  const { operation, variant } = admitted.route;
  const context = new CallContext(call, options.useCases, options);
  const body = operation.body === undefined ? (admitted.body ?? EMPTY_BODY) : admitted.body;
  const input: Input<unknown, unknown, unknown> = { params, query, body };
  const late = { onLateError: (thrown: unknown): void => void call.failed(thrown) };
  switch (operation.answer) {
    case 'json': {
      const document = await documentOf(admitted, operation.shape, await operation.handle(context, input));
      if (operation.stands !== true) return reply.json(document);
      const pieces = typeof document === 'string' ? [Buffer.from(document)] : document;
      options.standing?.keep(request, pieces);
      return reply.json(pieces);
    }
    case 'text':
      return reply.send(200, await operation.handle(context, input), { 'content-type': 'text/plain; charset=utf-8' });
    case 'empty':
      await operation.handle(context, input);
      if (call.cookie !== '') reply.addHeaders({ 'set-cookie': call.cookie });
      return reply.send(operation.status ?? 200, '');
    case 'proxied': {
      const bytes = admitted.body instanceof Uint8Array ? admitted.body : new Uint8Array();
      const headers = askedHeaders(request.headers, call.contentType);
      const answered = await operation.handle(context, input, { method: methodOf(request), headers, body: bytes });
      return reply.pass(answered.status, answered.body, answeredHeaders(answered.headers));
    }
    case 'progress': {
      const way = wayOfProgress(asked(request, variant), operation.textTo);
      const asLine = (error: PlatformError): string | null => operation.asLine?.(error, input) ?? null;
      const work = (say: (line: string) => void) => operation.handle(context, input, say);
      return answerProgress(reply.stream(), work, { ...late, ...way, asLine });
    }
    case 'shell':
      await operation.permitted(context, input);
      throw new PlatformError('input.invalid', 'A shell is spoken to over a websocket.', {
        hint: 'Use "tancho app shell", or a client that asks for "Upgrade: websocket".',
      });
    case 'edge':
      throw new PlatformError('input.invalid', 'An edge follows over a websocket.', {
        hint: 'Start it with "tancho edge run --server <url>".',
      });
    case 'upload': {
      demandSize(request);
      call.endBodyLimit();
      // What becomes of it waits in the queue of deploys.
      request.once('end', call.endTurn);
      const way = wayOfDeploy(asked(request, variant));
      call.outlivesClient = way.holdMs > 0;
      const pending = pendingUpload(request, call.contentType);
      const work = (say: (line: string) => void) => operation.handle(context, input, pending, say);
      return answerProgress(reply.stream(), work, { ...late, ...way, textEnd: '\nOK\n' }).finally(() => {
        call.ended();
        // What a refused upload still sends is read and thrown away, for so long.
        if (!request.complete) limitBodyTime(request);
      });
    }
    case 'output': {
      const raw = variant.extensions && (isOldest(request) || prefersText(request.headers.accept));
      return answerOutput(reply.stream(), (output) => operation.handle(context, input, output), { ...late, raw });
    }
    case 'entries': {
      const shape = variant.shapes[operation.shape];
      const found = await operation.handle(context, input);
      if (!(Symbol.asyncIterator in found)) return reply.json(JSON.stringify(shape.toWire(found)));
      call.endTurn();
      const answerAll = call.wantsEvents ? answerEvents : answerFollow;
      return answerAll(reply.stream(), found, shape, call.signal);
    }
  }
}

/** As the client's age, the shape's schema or, for a bare text, JSON itself has it. */
async function documentOf(
  { route: { variant }, request }: Admitted,
  name: ShapeName,
  value: unknown,
): Promise<string | readonly Buffer[]> {
  const { serialized, serializedList } = await serialization();
  const { schema, pieces, toWire }: Shape<never> = variant.shapes[name];
  if (isOldest(request) && variant.extensions) {
    const form = oldestForm(name, () => serialized(schema, toWire(value as never)));
    if (form !== null) return form;
  }
  if (pieces !== undefined) return serializedList(pieces, value as readonly object[]);
  const wire = toWire(value as never);
  return typeof wire === 'string' ? JSON.stringify(wire) : serialized(schema, wire);
}

function asked(request: IncomingMessage, variant: Variant): AnswerRequest {
  const accept = request.headers.accept;
  return { variant, method: methodOf(request), accept, isVersioned: isVersioned(request), isOldest: isOldest(request) };
}

function methodOf({ method = 'GET' }: IncomingMessage): string {
  return method;
}
