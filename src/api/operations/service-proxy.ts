/** Requests handed on to the provider of a service; beyond the specification, for the clients and providers that use it. */
import { Readable } from 'node:stream';
import type { ProxyRequest } from '../../domain/services/service-endpoint.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import { type Forwarded, type Method, type Operation, proxied } from '../operation.ts';
import { Type } from '../schema.ts';
import { queryText } from './fields.ts';

const query = Type.Object({ callback: queryText });
const errors: readonly ErrorCode[] = ['access.denied', 'provider.failed', 'instance.not_ready'];
/** It is handed on as it is. */
const BODY_BYTES = 8 * 1024 * 1024;
const OTHERS: readonly Method[] = ['POST', 'PUT', 'DELETE'];

function everyMethod(...paths: readonly string[]): { method: Method; path: string }[] {
  return paths.flatMap((path, at) =>
    (at === 0 ? OTHERS : (['GET', ...OTHERS] as const)).map((method) => ({ method, path })),
  );
}

export const serviceProxyOperations: readonly Operation[] = [
  proxied({
    id: 'instances.proxy',
    section: null,
    summary: "Ask the provider for a path of an instance's own.",
    method: 'GET',
    path: '/services/proxy/:instance',
    also: everyMethod('/services/proxy/:instance', '/services/:service/proxy/:instance'),
    changesState: true,
    access: 'user',
    bodyLimitBytes: BODY_BYTES,
    params: Type.Object({ instance: Type.String(), service: Type.Optional(Type.String()) }),
    query,
    errors: [...errors, 'instance.not_found', 'service.not_found'],
    handle: ({ useCases, caller }, { params: { instance, service }, query: { callback } }, request) =>
      useCases.serviceProxy.instance(caller, instance, requestOf(request, callback), service),
  }),
  proxied({
    id: 'services.proxy',
    section: null,
    summary: 'Ask the provider of a service for any path; for its owners.',
    method: 'GET',
    path: '/services/proxy/service/:service',
    also: everyMethod('/services/proxy/service/:service'),
    changesState: true,
    access: 'user',
    bodyLimitBytes: BODY_BYTES,
    params: Type.Object({ service: Type.String() }),
    query,
    errors: [...errors, 'service.not_found'],
    handle: ({ useCases, caller }, { params: { service }, query: { callback } }, request) =>
      useCases.serviceProxy.service(caller, service, requestOf(request, callback)),
  }),
];

function requestOf({ method, headers, body }: Forwarded, callback = ''): ProxyRequest {
  return { method, path: callback, headers, body: body.length === 0 ? null : Readable.from([body]) };
}
