/** The provider behind a service, by the protocol that its manifest names. What both have in common is in calls.ts. */
import type { EndpointKind, ServiceEndpoint } from '../../domain/services/service-endpoint.ts';
import { createAddressGuard, type Resolve } from '../../lib/guarded/address-guard.ts';
import type { Logger } from '../../lib/logger.ts';
import { createSend, CALL_TIMEOUTS, type CallTimeouts } from './calls.ts';
import { createHttpEndpoint } from './http/http-endpoint.ts';
import { createOsbEndpoint } from './osb/osb-endpoint.ts';
import { createProxy } from './proxy.ts';

export interface ServiceEndpointOptions {
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
  const kinds: Record<EndpointKind, Omit<ServiceEndpoint, 'proxy'>> = {
    http: createHttpEndpoint(send, deadlines),
    osb: createOsbEndpoint(send, deadlines),
  };
  return {
    plans: (endpoint, ...rest) => kinds[endpoint.kind].plans(endpoint, ...rest),
    create: (endpoint, ...rest) => kinds[endpoint.kind].create(endpoint, ...rest),
    info: (endpoint, ...rest) => kinds[endpoint.kind].info(endpoint, ...rest),
    status: (endpoint, ...rest) => kinds[endpoint.kind].status(endpoint, ...rest),
    bind: (endpoint, ...rest) => kinds[endpoint.kind].bind(endpoint, ...rest),
    unbind: (endpoint, ...rest) => kinds[endpoint.kind].unbind(endpoint, ...rest),
    bindUnit: (endpoint, ...rest) => kinds[endpoint.kind].bindUnit(endpoint, ...rest),
    unbindUnit: (endpoint, ...rest) => kinds[endpoint.kind].unbindUnit(endpoint, ...rest),
    remove: (endpoint, ...rest) => kinds[endpoint.kind].remove(endpoint, ...rest),
    proxy: createProxy({ guard, deadlines, logger }),
  };
}
