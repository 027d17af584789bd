/** The log of an app (specification 4.1 and 8). */
import { Type } from '../schema.ts';
import { empty, entries, type Operation } from '../operation.ts';
import { parseJson, readFlag } from '../body.ts';
import { appParams, queryText } from './fields.ts';

export const appLogOperations: readonly Operation[] = [
  entries({
    id: 'apps.log',
    section: '4.1',
    summary: 'Show the last entries of the log, and with follow=1 every new one as it comes.',
    method: 'GET',
    path: '/apps/:app/log',
    access: 'token',
    params: appParams,
    query: Type.Object({ lines: queryText, source: queryText, unit: queryText, follow: queryText }),
    requiredQuery: ['lines'],
    shape: 'logEntries',
    errors: ['app.not_found', 'access.denied', 'log.lines_required'],
    handle: async ({ useCases, caller, signal }, { params, query }) => {
      const filter = {
        lines: query.lines,
        ...(query.source && { source: query.source }),
        ...(query.unit && { unit: query.unit }),
      };
      return readFlag('follow', query.follow)
        ? useCases.logs.follow(caller, params.app, filter, signal)
        : useCases.logs.query(caller, params.app, filter);
    },
  }),
  empty({
    id: 'apps.log_push',
    section: null,
    summary: 'Add lines to the log of an app.',
    method: 'POST',
    path: '/apps/:app/log',
    access: 'token',
    params: appParams,
    query: Type.Object({ source: queryText, unit: queryText }),
    rawBody: { mediaType: 'application/json', schema: Type.Array(Type.String()) },
    errors: ['app.not_found', 'access.denied', 'input.invalid_json'],
    handle: ({ useCases, caller }, { params, query, body }) =>
      useCases.logs.push(caller, params.app, {
        lines: parseJson(body),
        source: query.source ?? '',
        unit: query.unit ?? '',
      }),
  }),
  empty({
    id: 'logs.clear',
    section: null,
    summary: 'Remove the log of an app, or of all.',
    method: 'DELETE',
    path: '/logs',
    access: 'user',
    query: Type.Object({ app: queryText }),
    errors: ['app.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { query }) => useCases.logs.clear(caller, query.app ?? ''),
  }),
];
