/** Releases of an app: numbered snapshots of everything that decides what runs. Beyond the specification. */
import { json, type Operation } from '../operation.ts';
import { Type } from '../schema.ts';
import { appParams, queryText } from './fields.ts';

export const releaseOperations: readonly Operation[] = [
  json({
    id: 'releases.list',
    section: null,
    summary: 'List the releases of an app that are kept, newest first, at most 100.',
    method: 'GET',
    path: '/apps/:app/releases',
    access: 'user',
    params: appParams,
    shape: 'releases',
    errors: ['app.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { params: { app } }) => useCases.releases.list(caller, app),
  }),
  json({
    id: 'releases.compare',
    section: null,
    summary: 'Say what differs between two releases of an app, without private values.',
    method: 'GET',
    path: '/apps/:app/releases/compare',
    access: 'user',
    params: appParams,
    query: Type.Object({ from: queryText, to: queryText }),
    shape: 'releaseComparison',
    errors: ['app.not_found', 'access.denied', 'app.not_deployed', 'release.not_found', 'input.invalid'],
    handle: ({ useCases, caller }, { params: { app }, query: { from = '', to = '' } }) =>
      useCases.releases.compare(caller, app, { from, to }),
  }),
];
