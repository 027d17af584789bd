/**
 * What the platform asks of the provider behind a service, whatever protocol it speaks (`http`: docs/providers.md, `osb`: the
 * Open Service Broker API 2.17). Implementations hold no state and do not retry beyond what is safe to repeat: what to do about
 * an unknown outcome is decided by the state machines of instances and bindings.
 */
import type { Readable } from 'node:stream';

export const ENDPOINT_KINDS = ['http', 'osb'] as const;
export type EndpointKind = (typeof ENDPOINT_KINDS)[number];

/** Where a service is served, from its manifest. */
export interface Endpoint {
  readonly kind: EndpointKind;
  /** Name of the service: for `osb` the name in the broker's catalog. */
  readonly service: string;
  /** http or https, without a trailing slash. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

export interface EndpointInstance {
  /** A UUID that never changes and is never used again. */
  readonly id: string;
  readonly name: string;
  /** Owner. */
  readonly team: string;
  /** '' when the service has no plans. */
  readonly plan: string;
  /** E-mail of whoever created it. */
  readonly user: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: Readonly<Record<string, string>>;
}

export interface EndpointBinding {
  /** A UUID; one per binding of an app to an instance. */
  readonly id: string;
  readonly app: string;
  /** Public host name of the app. */
  readonly appHost: string;
  /** Addresses (host:port) of the app's units as of now; may be empty. */
  readonly unitHosts: readonly string[];
}

/** Every call carries these. */
export interface EndpointCall {
  /** The same for every attempt at one step, and for no other step. */
  readonly idempotencyKey: string;
  /** E-mail of whoever asked; '' for the platform itself. */
  readonly user: string;
  /** Id of the request or event that led to the call. */
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** Called by bind() before it notifies the provider of a unit: from then on the provider may know it. */
  readonly onNotify?: (unitHost: string) => Promise<void>;
}

export interface EndpointPlan {
  readonly name: string;
  readonly description: string;
}

export interface EndpointFact {
  readonly label: string;
  readonly value: string;
}

export type InstanceStatus = 'up' | 'pending' | 'down' | 'unknown';

/** Closed list of what can go wrong between the platform and a provider. */
const ENDPOINT_FAILURES = [
  /** The address may not be called (docs/providers.md, "Which addresses are called"). */
  'forbidden_address',
  /** No connection, or it broke. */
  'unreachable',
  /** No complete answer within the deadline, or the caller gave up. */
  'timeout',
  /** An answer that says no: any status that the contract has no other meaning for. */
  'refused',
  /** The provider does not know the instance or binding. */
  'not_found',
  /** The provider has such an instance or binding already. */
  'exists',
  /** The provider cannot do it yet (412). */
  'precondition_failed',
  /** An answer that is not what the contract says: not JSON, wrong types, impossible variable names, too long. */
  'invalid_answer',
] as const;
export type EndpointFailureCode = (typeof ENDPOINT_FAILURES)[number];

/** `message` is fit for a person and holds no secret: of a provider's body at most its first 500 characters, redacted. */
export class EndpointFailure extends Error {
  override readonly name = 'EndpointFailure';
  readonly code: EndpointFailureCode;
  /** Whether the provider may have done what it was asked to: then it has to be undone or asked again. */
  readonly mayHaveHappened: boolean;
  /** Of the provider's answer; null when there was none. */
  readonly status: number | null;

  constructor(
    code: EndpointFailureCode,
    message: string,
    options: { mayHaveHappened: boolean; status?: number; cause?: unknown },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.mayHaveHappened = options.mayHaveHappened;
    this.status = options.status ?? null;
  }
}

export interface ProxyRequest {
  readonly method: string;
  /** Path with query, below the endpoint's URL; begins with `/`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable | null;
}

export interface ProxyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Bounded in size; destroyed when it is too long. */
  readonly body: Readable;
}

/** Every method throws EndpointFailure, and nothing else, for what the provider or the way to it is to blame for. */
export interface ServiceEndpoint {
  /** Repeated safely. An endpoint without plans answers []. */
  plans(endpoint: Endpoint, call: EndpointCall): Promise<EndpointPlan[]>;
  /** Resolves when the instance exists, which may take minutes with an asynchronous broker: bounded by `call.signal`. */
  create(endpoint: Endpoint, instance: EndpointInstance, call: EndpointCall): Promise<void>;
  /** Repeated safely. An endpoint that has nothing to say answers []. */
  info(endpoint: Endpoint, instance: EndpointInstance, call: EndpointCall): Promise<EndpointFact[]>;
  /** Repeated safely. */
  status(endpoint: Endpoint, instance: EndpointInstance, call: EndpointCall): Promise<InstanceStatus>;
  /** The variables for the app: names that are valid for an environment, values that are strings without NUL. */
  bind(
    endpoint: Endpoint,
    instance: EndpointInstance,
    binding: EndpointBinding,
    call: EndpointCall,
  ): Promise<ReadonlyMap<string, string>>;
  /** Repeated safely. A binding the provider does not know is no failure: it is gone. */
  unbind(endpoint: Endpoint, instance: EndpointInstance, binding: EndpointBinding, call: EndpointCall): Promise<void>;
  /** Repeated safely. Notifies the provider of one more unit; endpoints that have no use for it do nothing. */
  bindUnit(
    endpoint: Endpoint,
    instance: EndpointInstance,
    binding: EndpointBinding,
    unitHost: string,
    call: EndpointCall,
  ): Promise<void>;
  /** Repeated safely. */
  unbindUnit(
    endpoint: Endpoint,
    instance: EndpointInstance,
    binding: EndpointBinding,
    unitHost: string,
    call: EndpointCall,
  ): Promise<void>;
  /** Repeated safely. An instance the provider does not know is no failure: it is gone. */
  remove(endpoint: Endpoint, instance: EndpointInstance, call: EndpointCall): Promise<void>;
  /** Hands a caller's request on, with the endpoint's own credentials; redirects are answered, not followed. */
  proxy(endpoint: Endpoint, request: ProxyRequest, call: EndpointCall): Promise<ProxyAnswer>;
}
