/** What tests of endpoints ask with, and of whom. */
import { SILENT } from '../../../lib/logger.ts';
import {
  type Endpoint,
  type EndpointBinding,
  type EndpointCall,
  EndpointFailure,
  type EndpointInstance,
  type EndpointKind,
  type ServiceEndpoint,
} from '../../../domain/services/service-endpoint.ts';
import { createServiceEndpoints } from '../index.ts';
import { PASSWORD } from './faulty-server.ts';

export const INSTANCE: EndpointInstance = {
  id: '5f0c1f0e-6f6e-4b7a-9b0d-0f4f4f1d7a01',
  name: 'shop-db',
  team: 'shop',
  plan: 'small',
  user: 'ann@example.com',
  description: 'of the shop',
  tags: ['a', 'b'],
  parameters: { seed: 'secret-seed-value' },
};

export const BINDING: EndpointBinding = {
  id: '5f0c1f0e-6f6e-4b7a-9b0d-0f4f4f1d7a02',
  app: 'web',
  appHost: 'web.example.com',
  unitHosts: ['10.0.0.1:1', '10.0.0.2:2'],
};

let calls = 0;
export function callOf(signal = new AbortController().signal): EndpointCall {
  calls += 1;
  return { idempotencyKey: `key-${calls}`, user: 'ann@example.com', requestId: `request-${calls}`, signal };
}

export function endpointsForTest(options: Partial<Parameters<typeof createServiceEndpoints>[0]> = {}): ServiceEndpoint {
  return createServiceEndpoints({
    allow: [],
    allowLoopback: true,
    ownPorts: () => [],
    logger: SILENT,
    // Those of calls are what they are: a busy machine answers late.
    deadlines: { poll: 5 },
    ...options,
  });
}

export function endpointAt(kind: EndpointKind, url: string): Endpoint {
  return { kind, service: 'db', url, username: 'platform', password: PASSWORD };
}

export async function failureOf(work: Promise<unknown>): Promise<EndpointFailure> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof EndpointFailure)) throw new Error('expected an EndpointFailure', { cause: error });
  return error;
}
