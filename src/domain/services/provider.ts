/**
 * The provider behind a service, as the use cases ask it: every call has a deadline, whatever the endpoint makes of it, and
 * every failure is an EndpointFailure without the secrets that were sent.
 */
import { randomHex } from '../../lib/ids.ts';
import { createRedactor, withEncoded } from '../../lib/redact.ts';
import { PlatformError } from '../errors.ts';
import { type Binding, type Instance, type Service, notifiedHosts } from './service.ts';
import {
  type Endpoint,
  type EndpointBinding,
  type EndpointCall,
  type EndpointFact,
  EndpointFailure,
  type EndpointInstance,
  type EndpointPlan,
  type InstanceStatus,
  type ProxyAnswer,
  type ProxyRequest,
  type ServiceEndpoint,
} from './service-endpoint.ts';

export interface ProviderTimeouts {
  /** Making an instance may take a broker minutes. */
  readonly createMs: number;
  /** What changes something. */
  readonly changeMs: number;
  /** What somebody waits for to look at. */
  readonly lookMs: number;
}

const PROVIDER_TIMEOUTS: ProviderTimeouts = { createMs: 10 * 60_000, changeMs: 60_000, lookMs: 10_000 };
const MAX_PROBLEM = 1_000;

type Ask<T> = (endpoint: Endpoint, call: EndpointCall) => Promise<T>;

interface Asked {
  readonly key: string;
  readonly user: string;
  readonly deadlineMs: number;
  /** Beside the service's password. */
  readonly secrets?: readonly string[];
}

export class Provider {
  readonly #endpoint: ServiceEndpoint;
  readonly #deadlines: ProviderTimeouts;
  /** How to give up each call that is under way. */
  readonly #underWay = new Set<() => void>();
  #isClosed = false;

  constructor(endpoint: ServiceEndpoint, deadlines: ProviderTimeouts = PROVIDER_TIMEOUTS) {
    this.#endpoint = endpoint;
    this.#deadlines = deadlines;
  }

  plans(service: Service, user: string): Promise<EndpointPlan[]> {
    const asked = { key: randomHex(32), user, deadlineMs: this.#deadlines.lookMs };
    return this.#ask(service, asked, (endpoint, call) => this.#endpoint.plans(endpoint, call));
  }

  create(service: Service, instance: Instance): Promise<void> {
    const deadlineMs = this.#deadlines.createMs;
    const asked = { key: `${instance.id}:create`, user: instance.user, deadlineMs, secrets: secretsOf(instance) };
    return this.#ask(service, asked, (endpoint, call) =>
      this.#endpoint.create(endpoint, instanceFacts(instance), call),
    );
  }

  info(service: Service, instance: Instance, user: string): Promise<EndpointFact[]> {
    const asked = { key: randomHex(32), user, deadlineMs: this.#deadlines.lookMs, secrets: secretsOf(instance) };
    return this.#ask(service, asked, (endpoint, call) => this.#endpoint.info(endpoint, instanceFacts(instance), call));
  }

  status(service: Service, instance: Instance, user: string): Promise<InstanceStatus> {
    const asked = { key: randomHex(32), user, deadlineMs: this.#deadlines.lookMs, secrets: secretsOf(instance) };
    return this.#ask(service, asked, (endpoint, call) =>
      this.#endpoint.status(endpoint, instanceFacts(instance), call),
    );
  }

  remove(service: Service, instance: Instance): Promise<void> {
    const deadlineMs = this.#deadlines.changeMs;
    const asked = { key: `${instance.id}:remove`, user: '', deadlineMs, secrets: secretsOf(instance) };
    return this.#ask(service, asked, (endpoint, call) =>
      this.#endpoint.remove(endpoint, instanceFacts(instance), call),
    );
  }

  bind(
    service: Service,
    instance: Instance,
    binding: Binding,
    onNotify: (unitHost: string) => Promise<void>,
  ): Promise<ReadonlyMap<string, string>> {
    const deadlineMs = this.#deadlines.changeMs;
    const asked = { key: `${binding.id}:bind`, user: binding.user, deadlineMs, secrets: secretsOf(instance, binding) };
    return this.#ask(service, asked, (endpoint, call) =>
      this.#endpoint.bind(endpoint, instanceFacts(instance), bindingFacts(binding), { ...call, onNotify }),
    );
  }

  unbind(service: Service, instance: Instance, binding: Binding): Promise<void> {
    const secrets = secretsOf(instance, binding);
    const asked = { key: `${binding.id}:unbind`, user: '', deadlineMs: this.#deadlines.changeMs, secrets };
    return this.#ask(service, asked, (endpoint, call) =>
      this.#endpoint.unbind(endpoint, instanceFacts(instance), bindingFacts(binding), call),
    );
  }

  /** Notifies the provider of a unit that has come, or of one that has gone. */
  unit(what: 'bindUnit' | 'unbindUnit', on: BoundTo, unitHost: string): Promise<void> {
    const secrets = secretsOf(on.instance, on.binding);
    const asked = { key: randomHex(32), user: '', deadlineMs: this.#deadlines.lookMs, secrets };
    return this.#ask(on.service, asked, (endpoint, call) =>
      this.#endpoint[what](endpoint, instanceFacts(on.instance), bindingFacts(on.binding), unitHost, call),
    );
  }

  proxy(service: Service, request: ProxyRequest, user: string): Promise<ProxyAnswer> {
    const asked = { key: randomHex(32), user, deadlineMs: this.#deadlines.changeMs };
    return this.#ask(service, asked, (endpoint, call) => this.#endpoint.proxy(endpoint, request, call));
  }

  /** For an orderly stop: nobody waits for a provider any more; what that leaves open is recorded like any other failure. */
  close(): void {
    this.#isClosed = true;
    for (const giveUp of this.#underWay) giveUp();
  }

  async #ask<T>(service: Service, asked: Asked, ask: Ask<T>): Promise<T> {
    const { key, user, deadlineMs, secrets = [] } = asked;
    const controller = new AbortController();
    let giveUp = (_message: string): void => {};
    const late = new Promise<never>((_, reject) => {
      giveUp = (message) => {
        reject(new EndpointFailure('timeout', message, { mayHaveHappened: true }));
        controller.abort();
      };
    });
    late.catch(() => undefined);
    const seconds = Math.max(1, Math.round(deadlineMs / 1000));
    const message = `The provider of ${service.name} has not answered within ${seconds} s.`;
    const timer = setTimeout(() => giveUp(message), deadlineMs);
    const onClose = (): void => giveUp('The platform is being stopped.');
    this.#underWay.add(onClose);
    if (this.#isClosed) onClose();
    const call = { idempotencyKey: key, user, requestId: randomHex(16), signal: controller.signal };
    try {
      return await Promise.race([late, ask(endpointOf(service), call)]);
    } catch (thrown) {
      throw withoutSecrets(thrown, service, secrets);
    } finally {
      clearTimeout(timer);
      this.#underWay.delete(onClose);
    }
  }
}

export interface BoundTo {
  readonly service: Service;
  readonly instance: Instance;
  readonly binding: Binding;
}

/** The error that people read when a provider failed. `what`: e.g. `Failed to create the instance db`; `notReady`: in place of it all. */
export function providerFailed(
  failure: EndpointFailure,
  what: string,
  instance: string,
  notReady = `${what}: ${failure.message}`,
): PlatformError {
  const details = { reason: failure.code, ...(failure.status !== null && { providerStatus: failure.status }) };
  if (failure.code === 'precondition_failed') {
    return new PlatformError('instance.not_ready', notReady, { hint: 'Try again in a while.', details });
  }
  if (failure.code === 'unreachable') {
    return new PlatformError('provider.failed', `${instance} api is down.`, { hint: failure.message, details });
  }
  return new PlatformError('provider.failed', `${what}: ${failure.message}`, { details });
}

/** A line for whoever has unbound or removed something that is gone for them, and about which its provider has still to be asked. */
export function unconfirmed({ message }: EndpointFailure, whose = 'The provider'): string {
  return ` !     ${whose} did not confirm it (${message}); it is asked again until it does.`;
}

/** What the provider answers. Throws providerFailed() for what it is to blame for. */
export async function answerOf<T>(asking: Promise<T>, what: string, instance: string): Promise<T> {
  try {
    return await asking;
  } catch (thrown) {
    throw thrown instanceof EndpointFailure ? providerFailed(thrown, what, instance) : thrown;
  }
}

/** What neither of them was meant to show: a provider may quote it in its errors. */
function secretsOf(instance: Instance, binding?: Binding): string[] {
  return [...Object.values(instance.parameters), ...Object.values(binding?.vars ?? {})];
}

function endpointOf(service: Service): Endpoint {
  const { kind, name, url, username, password } = service;
  return { kind, service: name, url, username, password };
}

function instanceFacts(instance: Instance): EndpointInstance {
  const { id, name, teamOwner, plan, user, description, tags, parameters } = instance;
  return { id, name, team: teamOwner, plan, user, description, tags, parameters };
}

function bindingFacts(binding: Binding): EndpointBinding {
  const { id, app, appHost } = binding;
  return { id, app, appHost, unitHosts: notifiedHosts(binding) };
}

function withoutSecrets(thrown: unknown, service: Service, secrets: readonly string[]): EndpointFailure {
  if (!(thrown instanceof EndpointFailure)) {
    const message = `The provider of ${service.name} could not be asked.`;
    return new EndpointFailure('unreachable', message, { mayHaveHappened: true, cause: thrown });
  }
  const { code, mayHaveHappened, status } = thrown;
  const message = createRedactor(withEncoded([service.password, ...secrets]))(thrown.message).slice(0, MAX_PROBLEM);
  return new EndpointFailure(code, message, { mayHaveHappened, ...(status !== null && { status }) });
}
