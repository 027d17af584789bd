/** Rest and start of apps; beyond the specification, for the clients that have these commands. */
import { Type } from '../schema.ts';
import { type Operation, progress } from '../operation.ts';
import { appParams, queryText } from './fields.ts';
import { OPTIONS_BODY, readOptions } from './options-input.ts';

const errors = [
  'app.not_found',
  'access.denied',
  'app.busy',
  'app.not_deployed',
  'process.not_found',
  'unit.failed',
  'input.invalid_json',
] as const;
const query = Type.Object({ process: queryText });

export const appStartStopOperations: readonly Operation[] = [
  progress({
    id: 'apps.start',
    section: null,
    summary: 'Start what is stopped: the app, or one of its processes.',
    method: 'POST',
    path: '/apps/:app/start',
    also: [{ method: 'GET', path: '/apps/:app/start' }],
    textTo: ['GET', 'POST'],
    access: 'user',
    params: appParams,
    query,
    rawBody: OPTIONS_BODY,
    errors,
    handle: async ({ useCases, caller }, { params, query, body }, say) => {
      const { process } = readOptions(body, query, ['process']);
      await useCases.startStop.start(caller, params.app, process, say);
    },
  }),
  progress({
    id: 'apps.stop',
    section: null,
    summary: 'Finish the requests under way and end the units of the app, or of one of its processes.',
    method: 'POST',
    path: '/apps/:app/stop',
    also: [{ method: 'GET', path: '/apps/:app/stop' }],
    textTo: ['GET', 'POST'],
    access: 'user',
    params: appParams,
    query,
    rawBody: OPTIONS_BODY,
    errors,
    handle: async ({ useCases, caller }, { params, query, body }, say) => {
      const { process } = readOptions(body, query, ['process']);
      await useCases.startStop.stop(caller, params.app, process, say);
    },
  }),
];
