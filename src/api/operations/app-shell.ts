/** Interactive shells beside an app's units; beyond the specification, for the clients that have this command. */
import { Type } from '../schema.ts';
import { readFlag } from '../body.ts';
import { type Operation, shell } from '../operation.ts';
import { appParams, queryText } from './fields.ts';

export const appShellOperations: readonly Operation[] = [
  shell({
    id: 'apps.shell',
    section: null,
    summary: 'Open a shell with the code and environment of an app, over a websocket.',
    method: 'GET',
    path: '/apps/:app/shell',
    access: 'user',
    changesState: true,
    params: appParams,
    query: Type.Object({
      unit: queryText,
      width: queryText,
      height: queryText,
      term: queryText,
      terminal: queryText,
      isolated: queryText,
    }),
    errors: [
      'app.not_found',
      'access.denied',
      'app.not_deployed',
      'app.busy',
      'unit.not_found',
      'run.failed',
      'unsupported',
    ],
    permitted: ({ useCases, caller }, { params }) => useCases.shells.permitted(caller, params.app),
    handle: ({ useCases, caller, signal }, { params, query }, output) =>
      useCases.shells.open(caller, params.app, {
        unit: query.unit ?? '',
        width: query.width ?? '',
        height: query.height ?? '',
        term: query.term ?? '',
        isTerminal: readFlag('terminal', query.terminal ?? 'true'),
        output,
        signal,
      }),
  }),
];
