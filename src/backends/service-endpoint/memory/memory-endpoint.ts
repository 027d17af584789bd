/**
 * A provider in memory: keeps what it was asked for, answers as the contract says, and can be looked into. Knows instances by
 * their id and bindings by instance and app host, as a provider of the plainest kind does.
 */
import { Readable } from 'node:stream';
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
} from '../../../domain/services/service-endpoint.ts';

interface KeptInstance {
  readonly name: string;
  readonly createdBy: string;
  readonly bindings: Map<string, KeptBinding>;
}

interface KeptBinding {
  readonly app: string;
  readonly boundBy: string;
  readonly vars: ReadonlyMap<string, string>;
  readonly units: Set<string>;
}

export class MemoryEndpoint implements ServiceEndpoint {
  /** By id. */
  readonly instances = new Map<string, KeptInstance>();
  status_: InstanceStatus = 'up';
  /** What an app gets; by default variables that nobody else gets. */
  variables: (instance: EndpointInstance, binding: EndpointBinding, serial: number) => Record<string, string> = (
    instance,
    binding,
    serial,
  ) => {
    const prefix = instance.name.toUpperCase().replace(/-/g, '_');
    return {
      [`${prefix}_URL`]: `memory://${binding.app}:secret-${serial}-of-${binding.id}@${instance.name}`,
      [`${prefix}_PASSWORD`]: `secret-${serial}-of-${binding.id}`,
    };
  };
  /** Gets a unit with every binding, as providers do that do not know apps as a whole. */
  isOld = false;
  #serial = 0;

  async plans(_endpoint: Endpoint, call: EndpointCall): Promise<EndpointPlan[]> {
    call.signal.throwIfAborted();
    return [
      { name: 'small', description: 'little of everything' },
      { name: 'large', description: 'much of everything' },
    ];
  }

  async create(_endpoint: Endpoint, instance: EndpointInstance, call: EndpointCall): Promise<void> {
    const known = this.instances.get(instance.id);
    if (known?.createdBy === call.idempotencyKey) return;
    if (known !== undefined || [...this.instances.values()].some(({ name }) => name === instance.name)) {
      throw new EndpointFailure('exists', `There is an instance ${instance.name} already.`, { mayHaveHappened: false });
    }
    const { name } = instance;
    this.instances.set(instance.id, { name, createdBy: call.idempotencyKey, bindings: new Map() });
  }

  async info(_endpoint: Endpoint, instance: EndpointInstance): Promise<EndpointFact[]> {
    const { bindings } = this.#demand(instance);
    return [{ label: 'Bindings', value: String(bindings.size) }];
  }

  async status(_endpoint: Endpoint, instance: EndpointInstance): Promise<InstanceStatus> {
    this.#demand(instance);
    return this.status_;
  }

  async bind(
    _endpoint: Endpoint,
    instance: EndpointInstance,
    binding: EndpointBinding,
    call: EndpointCall,
  ): Promise<ReadonlyMap<string, string>> {
    const { bindings } = this.#demand(instance);
    const known = bindings.get(binding.appHost);
    if (known?.boundBy === call.idempotencyKey) return known.vars;
    if (known !== undefined) {
      throw new EndpointFailure('exists', `${binding.appHost} is bound already.`, { mayHaveHappened: true });
    }
    const vars = new Map(Object.entries(this.variables(instance, binding, (this.#serial += 1))));
    const [unit] = this.isOld ? binding.unitHosts : [];
    if (unit !== undefined) await call.onNotify?.(unit);
    const units = new Set(unit === undefined ? [] : [unit]);
    const kept = { app: binding.app, boundBy: call.idempotencyKey, vars, units };
    bindings.set(binding.appHost, kept);
    return vars;
  }

  async unbind(_endpoint: Endpoint, instance: EndpointInstance, binding: EndpointBinding): Promise<void> {
    this.instances.get(instance.id)?.bindings.delete(binding.appHost);
  }

  async bindUnit(
    _endpoint: Endpoint,
    instance: EndpointInstance,
    binding: EndpointBinding,
    unitHost: string,
  ): Promise<void> {
    this.#demand(instance).bindings.get(binding.appHost)?.units.add(unitHost);
  }

  async unbindUnit(
    _endpoint: Endpoint,
    instance: EndpointInstance,
    binding: EndpointBinding,
    unitHost: string,
  ): Promise<void> {
    this.instances.get(instance.id)?.bindings.get(binding.appHost)?.units.delete(unitHost);
  }

  async remove(_endpoint: Endpoint, instance: EndpointInstance): Promise<void> {
    this.instances.delete(instance.id);
  }

  async proxy(_endpoint: Endpoint, { method, path, body }: ProxyRequest): Promise<ProxyAnswer> {
    const sent = body === null ? '' : Buffer.concat(await body.toArray()).toString();
    const text = `${method} ${path} ${sent}`.trim();
    return { status: 200, headers: { 'content-type': 'text/plain' }, body: Readable.from([Buffer.from(text)]) };
  }

  #demand(instance: EndpointInstance): KeptInstance {
    const known = this.instances.get(instance.id);
    if (known !== undefined) return known;
    throw new EndpointFailure('not_found', `There is no instance ${instance.name}.`, { mayHaveHappened: false });
  }
}
