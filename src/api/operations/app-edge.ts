/** How the edge treats the requests to an app; beyond the specification. */
import { json, type Operation } from '../operation.ts';
import { Type } from '../schema.ts';
import { appParams } from './fields.ts';

const path = '/apps/:app/edge';
const optional = (...types: readonly string[]) =>
  Type.Optional(Type.Unsafe<string | number | boolean | null>({ type: [...types, 'string', 'null'] }));
/** Judged by the domain, in its words; null is as without any setting. */
const body = Type.Object({
  maintenance: optional('boolean'),
  maintenancePage: optional(),
  hold: optional(),
  holdSeconds: optional('number'),
  accessLog: optional('boolean'),
  sticky: optional('boolean'),
  redirectHttps: optional('boolean'),
  maxBodyBytes: optional('number'),
  responseTimeoutSeconds: optional('number'),
  maxRequests: optional('number'),
});
const errors = ['app.not_found', 'access.denied'] as const;

export const appEdgeOperations: readonly Operation[] = [
  json({
    id: 'edge.show',
    section: null,
    summary: 'Show how the edge treats the requests to an app: maintenance, holding, limits.',
    method: 'GET',
    path,
    access: 'user',
    params: appParams,
    shape: 'edgeSettings',
    errors,
    handle: ({ useCases, caller }, { params: { app } }) => useCases.appEdge.settings(caller, app),
  }),
  json({
    id: 'edge.set',
    section: null,
    summary:
      'Change how the edge treats the requests to an app, at once and without touching its units; what is absent stays as it is, null is as without a setting.',
    method: 'PUT',
    path,
    access: 'user',
    params: appParams,
    body,
    shape: 'edgeSettings',
    errors: [...errors, 'input.invalid', 'input.invalid_json', 'unavailable'],
    handle: ({ useCases, caller }, { params: { app }, body: change }) => useCases.appEdge.change(caller, app, change),
  }),
];
