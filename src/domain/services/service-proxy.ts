/** Hands requests of users on to the provider of a service, with the service's own credentials. */
import type { Act } from '../act.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Store } from '../store.ts';
import { demandInstance, demandService } from './demand-service.ts';
import { answerOf, type Provider } from './provider.ts';
import type { Instance, Service } from './service.ts';
import type { ProxyAnswer, ProxyRequest } from './service-endpoint.ts';

export interface ServiceProxy {
  /** Below what belongs to this instance only, and nothing that the platform itself asks for. Errors: provider.failed. */
  instance(caller: Caller, name: string, request: ProxyRequest, service?: string): Promise<ProxyAnswer>;
  /** Any path, for the owners of the service. */
  service(caller: Caller, name: string, request: ProxyRequest): Promise<ProxyAnswer>;
}

/**
 * What a provider does for the platform: binding or removing by this way would leave what nobody knows of. Paths are read as the most lenient of
 * servers would: some ignore a slash at the end, or do not distinguish small letters from capitals.
 */
const RESERVED = /^\/+$|^\/(?:bind(?:-app)?(?:\/|$)|hostname\/|binds\/)/i;

export function createServiceProxy(deps: {
  readonly store: Store;
  readonly provider: Provider;
  readonly act: Act;
}): ServiceProxy {
  const { store, provider, act } = deps;

  function hand(caller: Caller, service: Service, request: ProxyRequest): Promise<ProxyAnswer> {
    const asking = provider.proxy(service, request, callerName(caller));
    return answerOf(asking, `Failed to ask the provider of ${service.name}`, service.name);
  }

  return {
    async instance(caller, name, request, serviceName) {
      const instance = await demandInstance(store, name, serviceName);
      const service = await demandService(store, instance.service);
      const detail = describe(request);
      return act(caller, 'instance.proxy', { instance }, { target: `instance:${name}`, detail }, () => {
        demandOwnPath(instance, service, request);
        return hand(caller, service, request);
      });
    },

    async service(caller, name, request) {
      const service = await demandService(store, name);
      const options = { target: `service:${name}`, detail: describe(request) };
      return act(caller, 'service.proxy', { service }, options, () => {
        pathOf(request);
        return hand(caller, service, request);
      });
    },
  };
}

function describe({ method, path }: ProxyRequest): string {
  return `${method} ${path.split('?', 1)[0] ?? ''}`.slice(0, 200);
}

/** As the provider will read it; throws `input.invalid` for what two readers could read differently. */
function pathOf({ path }: ProxyRequest): string {
  const bare = path.split(/[?#]/, 1)[0] ?? '';
  // Without ";": some servers take what follows it in a part of a path away, and then see another path.
  const isPlain = /^\/[\w\-.~!$&'()*+,=:@/]*$/.test(bare) && !/\/\/|\/\.{1,2}(?:\/|$)/.test(bare);
  if (isPlain && path.length <= 4_096 && !path.includes('#')) return bare;
  throw new PlatformError('input.invalid', 'The callback must be a plain path that begins with a slash.', {
    hint: 'Send for example ?callback=/resources/<instance>/backups.',
  });
}

function demandOwnPath(instance: Instance, service: Service, request: ProxyRequest): void {
  const bare = pathOf(request);
  const own = [`/resources/${instance.name}`, `/resources/${instance.id}`].find((path) => bare.startsWith(`${path}/`));
  if (service.kind === 'http' && own !== undefined && !RESERVED.test(bare.slice(own.length))) return;
  throw new PlatformError('access.denied', 'Through an instance only its own paths can be reached.', {
    hint: `They begin with /resources/${instance.name}/; binding goes through the platform.`,
  });
}
