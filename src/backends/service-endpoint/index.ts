/** The provider behind a service, by the protocol that its manifest names. What both have in common is in calls.ts. */
import type { EndpointKind, ServiceEndpoint } from '../../domain/services/service-endpoint.ts';
import { createAddressGuard, type Resolve } from '../../lib/guarded/address-guard.ts';
import type { Logger } from '../../lib/logger.ts';
import { once } from '../../lib/once.ts';
import { createSend, CALL_TIMEOUTS, type CallTimeouts } from './calls.ts';
import { createProxy } from './proxy.ts';

interface ServiceEndpointOptions {
  /** Hosts and CIDR networks that may be called although they are private. */
  readonly allow: readonly string[];
  readonly allowLoopback: boolean;
  /** Ports of this program, never called on this machine's own addresses. */
  readonly ownPorts: () => readonly number[];
  readonly logger: Logger;
  /** Other than the usual ones. */
  readonly deadlines?: Partial<CallTimeouts>;
  readonly resolve?: Resolve;
}

export function createServiceEndpoints(options: ServiceEndpointOptions): ServiceEndpoint {
  const { logger } = options;
  const guard = createAddressGuard(options);
  const deadlines = { ...CALL_TIMEOUTS, ...options.deadlines };
  const send = createSend({ guard, deadlines, logger });
  // Most platforms need one of them, and not before somebody adds a service.
  const kinds: Record<EndpointKind, () => Promise<Omit<ServiceEndpoint, 'proxy'>>> = {
    http: once(async () => (await import('./http/http-endpoint.ts')).createHttpEndpoint(send, deadlines)),
    osb: once(async () => (await import('./osb/osb-endpoint.ts')).createOsbEndpoint(send, deadlines)),
  };
  return {
    plans: async (endpoint, ...rest) => (await kinds[endpoint.kind]()).plans(endpoint, ...rest),
    create: async (endpoint, ...rest) => (await kinds[endpoint.kind]()).create(endpoint, ...rest),
    info: async (endpoint, ...rest) => (await kinds[endpoint.kind]()).info(endpoint, ...rest),
    status: async (endpoint, ...rest) => (await kinds[endpoint.kind]()).status(endpoint, ...rest),
    bind: async (endpoint, ...rest) => (await kinds[endpoint.kind]()).bind(endpoint, ...rest),
    unbind: async (endpoint, ...rest) => (await kinds[endpoint.kind]()).unbind(endpoint, ...rest),
    bindUnit: async (endpoint, ...rest) => (await kinds[endpoint.kind]()).bindUnit(endpoint, ...rest),
    unbindUnit: async (endpoint, ...rest) => (await kinds[endpoint.kind]()).unbindUnit(endpoint, ...rest),
    remove: async (endpoint, ...rest) => (await kinds[endpoint.kind]()).remove(endpoint, ...rest),
    proxy: createProxy({ guard, deadlines, logger }),
  };
}
