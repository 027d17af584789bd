/** The environment of an app (specification 4.1). How clients write it is read in env-input.ts. */
import { Type } from '../schema.ts';
import { json, type Operation, progress } from '../operation.ts';
import { readEnvFilter, readEnvSet, readEnvUnset } from './env-input.ts';
import { appParams, queryText, repeatedText } from './fields.ts';

const section = '4.1';
const path = '/apps/:app/env';
const names = Type.Array(Type.String());
const failures = [
  'app.not_found',
  'access.denied',
  'app.busy',
  'env.invalid',
  'unit.failed',
  'input.invalid_json',
] as const;

export const appEnvOperations: readonly Operation[] = [
  json({
    id: 'env.get',
    section,
    summary: 'List environment variables: all, or those named.',
    method: 'GET',
    path,
    access: 'token',
    params: appParams,
    query: Type.Object({ env: repeatedText }),
    rawBody: { mediaType: 'application/json', schema: names },
    shape: 'envVars',
    errors: ['app.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { params, query, body }) =>
      useCases.env.get(caller, params.app, readEnvFilter(body, query)),
  }),
  progress({
    id: 'env.set',
    section,
    summary: 'Set environment variables and restart, all or nothing.',
    method: 'POST',
    path,
    access: 'user',
    params: appParams,
    query: Type.Object({ private: queryText, noRestart: queryText }),
    rawBody: { mediaType: 'application/json', schema: Type.Record(Type.String(), Type.String()) },
    bodyLimitBytes: 2 * 1024 * 1024,
    errors: failures,
    handle: async ({ useCases, caller }, { params, query, body }, say) => {
      const { vars, noRestart } = readEnvSet(body, query);
      await useCases.env.set(caller, params.app, vars, { noRestart }, say);
    },
  }),
  progress({
    id: 'env.unset',
    section,
    summary: 'Remove environment variables and restart, all or nothing.',
    method: 'DELETE',
    path,
    access: 'user',
    params: appParams,
    query: Type.Object({ env: repeatedText, noRestart: queryText }),
    rawBody: { mediaType: 'application/json', schema: names },
    errors: failures,
    handle: async ({ useCases, caller }, { params, query, body }, say) => {
      const change = readEnvUnset(body, query);
      await useCases.env.unset(caller, params.app, change.names, { noRestart: change.noRestart }, say);
    },
  }),
];
