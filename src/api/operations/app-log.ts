/** The log of an app (specification 4.1 and 8). */
import type { LogQuery } from '../../domain/logs/reading.ts';
import { Type } from '../schema.ts';
import { empty, entries, type Operation } from '../operation.ts';
import { parseJson, readFlag } from '../body.ts';
import { appParams, queryText } from './fields.ts';

/** What clients call the platform itself. */
const OWN_SOURCES: ReadonlyMap<string, string> = new Map([['tsuru', 'tancho']]);

export const appLogOperations: readonly Operation[] = [
  entries({
    id: 'apps.log',
    section: '4.1',
    summary: 'Show the last entries of the log, and with follow=1 every new one as it comes.',
    method: 'GET',
    path: '/apps/:app/log',
    access: 'token',
    params: appParams,
    query: Type.Object({
      lines: queryText,
      source: queryText,
      unit: queryText,
      process: queryText,
      since: queryText,
      until: queryText,
      deploy: queryText,
      search: queryText,
      regexp: queryText,
      after: queryText,
      before: queryText,
      follow: queryText,
    }),
    requiredQuery: ['lines'],
    shape: 'logEntries',
    errors: ['app.not_found', 'access.denied', 'log.lines_required', 'input.invalid', 'deploy.not_found'],
    handle: async ({ useCases, caller, signal, wantsEvents, lastEventId }, { params, query }) => {
      const { follow, regexp, ...rest } = query;
      const given = Object.entries(rest).filter((field): field is [string, string] => field[1] !== undefined);
      const source = OWN_SOURCES.get(query.source ?? '');
      const asked: LogQuery = {
        ...{ lines: undefined, ...Object.fromEntries(given), regexp: readFlag('regexp', regexp) },
        ...(source !== undefined && { source }),
      };
      const isFollowed = readFlag('follow', follow) || wantsEvents;
      if (!isFollowed) return useCases.logs.query(caller, params.app, asked);
      // A reader of events that was cut off asks the same once more, and says how far it has come.
      const resumed = wantsEvents && lastEventId !== '' ? { ...asked, after: lastEventId } : asked;
      return useCases.logs.follow(caller, params.app, resumed, signal);
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
    bodyLimitBytes: 2 * 1024 * 1024,
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
