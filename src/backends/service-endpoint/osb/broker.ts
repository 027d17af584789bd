/** Requests to a broker of the Open Service Broker API 2.17, and following what it goes on with after its answer. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Endpoint,
  type EndpointCall,
  EndpointFailure,
  type EndpointInstance,
} from '../../../domain/services/service-endpoint.ts';
import { withDeadline } from '../../../lib/deadline.ts';
import { isRecord } from '../../../lib/is-record.ts';
import { isPage } from '../../../lib/web-page.ts';
import {
  type CallTimeouts,
  headerText,
  invalidAnswer,
  jsonOf,
  type EndpointAnswer,
  type ProviderRequest,
  refusal,
  type Send,
} from '../calls.ts';
import { type Offering, offeringOf, type OsbPlan } from './catalog.ts';

const VERSION = '2.17';
export const PLATFORM_NAME = 'tancho';
const LONGEST_PAUSE_MS = 60_000;
const MAX_OPERATION = 10_000;
/** 412: not that the instance is not ready yet, as elsewhere. */
const UNKNOWN_VERSION = 412;

interface Ask {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly repeatable: boolean;
  readonly timeoutMs: number;
  readonly secrets?: readonly string[];
}

export interface BrokerExchange {
  readonly request: ProviderRequest;
  readonly answer: EndpointAnswer;
}

/** What the request that a broker accepted was about. */
interface Accepted {
  readonly asked: BrokerExchange;
  /** Path of the instance or binding. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly maxPollingSeconds: number | null;
  /** Gone is what was wanted. */
  readonly deletes: boolean;
}

interface Broker {
  ask(endpoint: Endpoint, call: EndpointCall, what: Ask): Promise<BrokerExchange>;
  /** ask(), again and again while the broker is busy with the same instance: such a refusal has changed nothing. */
  askUntilFree(endpoint: Endpoint, call: EndpointCall, what: Ask): Promise<BrokerExchange>;
  offering(endpoint: Endpoint, call: EndpointCall): Promise<Offering>;
  /** Of an instance; its plan by name, or the only one. */
  plan(endpoint: Endpoint, offering: Offering, instance: EndpointInstance): OsbPlan;
  /** Resolves when the accepted operation has succeeded. */
  follow(endpoint: Endpoint, call: EndpointCall, accepted: Accepted): Promise<void>;
}

export function createBroker(send: Send, deadlines: CallTimeouts): Broker {
  const broker: Broker = {
    async ask(endpoint, call, what) {
      const request = requestOf(call, what);
      return { request, answer: await send(endpoint, request, call) };
    },

    async askUntilFree(endpoint, call, what) {
      const startedAt = Date.now();
      let mayHaveHappened = false;
      for (;;) {
        const { request, answer } = await broker.ask(endpoint, call, what).catch((error: unknown) => {
          throw mayHaveHappened ? afterwards(error) : error;
        });
        mayHaveHappened ||= answer.mayHaveHappened;
        const isBusy = answer.status === 422 && errorCode(answer) === 'ConcurrencyError';
        const pauseMs = pauseAfter(answer, deadlines.poll);
        if (!isBusy || call.signal.aborted || Date.now() - startedAt + pauseMs > deadlines.long)
          return { request, answer: { ...answer, mayHaveHappened } };
        await delay(pauseMs, undefined, { signal: call.signal }).catch(() => undefined);
      }
    },

    async offering(endpoint, call) {
      const what: Ask = { method: 'GET', path: '/v2/catalog', repeatable: true, timeoutMs: deadlines.short };
      const { request, answer } = await broker.ask(endpoint, call, what);
      if (answer.status !== 200) throw refusalOf(endpoint, { request, answer });
      const invalid = (): EndpointFailure =>
        invalidAnswer(endpoint, request, answer.status, 'something that is not a catalog');
      const found = offeringOf(jsonOf(endpoint, request, answer), endpoint.service, invalid);
      if (found === null) throw refused(`The broker's catalog has no service "${endpoint.service}".`);
      return found;
    },

    plan(endpoint, offering, instance) {
      const [only, ...more] = offering.plans;
      const found = offering.plans.find((plan) => plan.name === instance.plan);
      if (found !== undefined) return found;
      if (instance.plan === '' && only !== undefined && more.length === 0) return only;
      const names = offering.plans.map((plan) => plan.name).join(', ');
      throw refused(`The service "${endpoint.service}" has no plan "${instance.plan}". It has: ${names}.`);
    },

    async follow(endpoint, call, accepted) {
      const mostMs = Math.min(deadlines.asynchronous, (accepted.maxPollingSeconds ?? Infinity) * 1000);
      await withDeadline(mostMs, call.signal, (signal) =>
        poll(broker, deadlines, endpoint, { ...call, signal }, accepted),
      );
    },
  };
  return broker;
}

async function poll(
  broker: Broker,
  deadlines: CallTimeouts,
  endpoint: Endpoint,
  call: EndpointCall,
  accepted: Accepted,
): Promise<void> {
  const { asked, path, deletes } = accepted;
  const operation = operationOf(endpoint, asked);
  const query = operation === null ? accepted.query : { ...accepted.query, operation };
  const what: Ask = {
    method: 'GET',
    path: `${path}/last_operation`,
    query,
    repeatable: true,
    timeoutMs: deadlines.short,
  };
  let pauseMs = pauseAfter(asked.answer, deadlines.poll);
  for (;;) {
    await delay(pauseMs, undefined, { signal: call.signal }).catch(() => undefined);
    if (call.signal.aborted) throw notFinished(endpoint);
    const { request, answer } = await askOrWait(broker, endpoint, call, what);
    pauseMs = answer === null ? deadlines.poll : pauseAfter(answer, deadlines.poll);
    // Anything but a valid answer means to go on asking (specification, "Polling Last Operation").
    if (answer === null) continue;
    if (deletes && (answer.status === 410 || answer.status === 404) && !isPage(answer.text)) return;
    const state = answer.status === 200 ? stateOf(answer) : null;
    if (state === 'succeeded') return;
    if (state === 'failed') {
      throw refusal(
        endpoint,
        { ...request, changes: true },
        { ...answer, status: 500 },
        descriptionOf(answer) || 'failed',
      );
    }
  }
}

async function askOrWait(
  broker: Broker,
  endpoint: Endpoint,
  call: EndpointCall,
  what: Ask,
): Promise<{ request: ProviderRequest; answer: EndpointAnswer | null }> {
  try {
    return await broker.ask(endpoint, call, what);
  } catch (error) {
    const mayPass = error instanceof EndpointFailure && error.code !== 'forbidden_address';
    if (!mayPass || call.signal.aborted) throw call.signal.aborted ? notFinished(endpoint) : afterwards(error);
    return { request: requestOf(call, what), answer: null };
  }
}

/** What goes wrong after a broker may have begun is no reason to take it for not begun. */
export function afterwards(error: unknown): unknown {
  if (!(error instanceof EndpointFailure) || error.mayHaveHappened) return error;
  const { code, message, status } = error;
  return new EndpointFailure(code, message, {
    mayHaveHappened: true,
    cause: error,
    ...(status !== null && { status }),
  });
}

function notFinished(endpoint: Endpoint): EndpointFailure {
  const message = `The broker of the service "${endpoint.service}" did not finish in time.`;
  return new EndpointFailure('timeout', message, { mayHaveHappened: true });
}

/** Retry-After in seconds counts when the broker gives one, but for less than a second: it would be asked without end. */
function pauseAfter(answer: EndpointAnswer, otherwise: number): number {
  const seconds = Number(answer.headers['retry-after'] ?? Number.NaN);
  const least = Math.min(otherwise, 1_000);
  return seconds >= 0 ? Math.max(least, Math.min(seconds * 1000, LONGEST_PAUSE_MS)) : otherwise;
}

function requestOf(call: EndpointCall, what: Ask): ProviderRequest {
  const { method, path, query = {}, body, repeatable, timeoutMs, secrets } = what;
  const search = new URLSearchParams(query).toString();
  const headers: Record<string, string> = {
    'x-broker-api-version': VERSION,
    'x-broker-api-request-identity': headerText(call.requestId),
  };
  if (call.user !== '') {
    const identity = Buffer.from(JSON.stringify({ user_id: call.user })).toString('base64');
    headers['x-broker-api-originating-identity'] = `${PLATFORM_NAME} ${identity}`;
  }
  if (body !== undefined) headers['content-type'] = 'application/json';
  return {
    method,
    path: search === '' ? path : `${path}?${search}`,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    changes: method !== 'GET',
    repeatable,
    timeoutMs,
    ...(secrets === undefined ? {} : { secrets }),
  };
}

function operationOf(endpoint: Endpoint, asked: BrokerExchange): string | null {
  const body = parsed(asked.answer);
  const operation = isRecord(body) ? (body.operation ?? null) : undefined;
  if (operation === null) return null;
  if (typeof operation === 'string' && operation !== '' && operation.length <= MAX_OPERATION) return operation;
  throw invalidAnswer(endpoint, asked.request, asked.answer.status, 'something that names no operation');
}

function stateOf(answer: EndpointAnswer): string | null {
  const body = parsed(answer);
  return isRecord(body) && typeof body.state === 'string' ? body.state : null;
}

/** For people; the specification's error body has one. */
function descriptionOf(answer: EndpointAnswer): string {
  const body = parsed(answer);
  return isRecord(body) && typeof body.description === 'string' ? body.description : '';
}

function errorCode(answer: EndpointAnswer): string {
  const body = parsed(answer);
  return isRecord(body) && typeof body.error === 'string' ? body.error : '';
}

function parsed(answer: EndpointAnswer): unknown {
  try {
    return JSON.parse(answer.text) as unknown;
  } catch {
    return null;
  }
}

/** State of the last operation of an instance, as the broker reports it: `in progress`, `succeeded`, `failed`; else null. */
export function lastState(answer: EndpointAnswer): string | null {
  return answer.status === 200 ? stateOf(answer) : null;
}

/** Words of a refusal that the specification gives a meaning to, and what the broker adds. */
export function refusalOf(endpoint: Endpoint, { request, answer }: BrokerExchange): EndpointFailure {
  const words = [errorCode(answer), descriptionOf(answer)].filter((part) => part !== '').join(': ');
  const failure = refusal(endpoint, request, answer, words === '' ? undefined : words);
  if (answer.status !== UNKNOWN_VERSION) return failure;
  const message = `${failure.message} It does not speak version ${VERSION} of the Open Service Broker API.`;
  return new EndpointFailure('refused', message, { mayHaveHappened: failure.mayHaveHappened, status: answer.status });
}

export function refused(message: string): EndpointFailure {
  return new EndpointFailure('refused', message, { mayHaveHappened: false });
}
