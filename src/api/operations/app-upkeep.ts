/** What operators ask of one app; beyond the specification. */
import { empty, json, type Operation } from '../operation.ts';
import { appParams } from './fields.ts';

const errors = ['app.not_found', 'access.denied'] as const;

export const appUpkeepOperations: readonly Operation[] = [
  empty({
    id: 'apps.unlock',
    section: null,
    summary:
      'Wait until nobody works on an app; nothing is broken off, and what somebody left behind is free by itself.',
    method: 'DELETE',
    path: '/apps/:app/lock',
    access: 'user',
    params: appParams,
    errors: [...errors, 'app.busy'],
    handle: ({ useCases, caller }, { params }) => useCases.appUpkeep.unlock(caller, params.app),
  }),
  json({
    id: 'apps.routes',
    section: null,
    summary: 'Bring the routes to the router once more; answers which addresses of units that added and removed.',
    method: 'POST',
    path: '/apps/:app/routes',
    access: 'user',
    params: appParams,
    shape: 'routesChange',
    errors,
    handle: ({ useCases, caller }, { params }) => useCases.appUpkeep.republish(caller, params.app),
  }),
  json({
    id: 'apps.metric_envs',
    section: null,
    summary: 'The variables by which the metrics of an app are sent elsewhere: none.',
    method: 'GET',
    path: '/apps/:app/metric/envs',
    access: 'user',
    params: appParams,
    shape: 'metricEnvs',
    errors,
    handle: ({ useCases, caller }, { params }) => useCases.appUpkeep.metricEnvs(caller, params.app),
  }),
];
