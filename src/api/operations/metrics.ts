/** What apps use and do over time; beyond the specification. */
import { json, type Operation, text } from '../operation.ts';
import { Type } from '../schema.ts';
import { appParams, queryText } from './fields.ts';

export const metricOperations: readonly Operation[] = [
  json({
    id: 'apps.metrics',
    section: null,
    summary:
      'Show what the units of an app used, and the requests to it, step by step: every 10 seconds of the last two hours, every minute of two days.',
    method: 'GET',
    path: '/apps/:app/metrics',
    access: 'user',
    params: appParams,
    query: Type.Object({ since: queryText }),
    shape: 'appMetrics',
    errors: ['app.not_found', 'access.denied', 'input.invalid'],
    handle: ({ useCases, caller }, { params, query }) => useCases.metrics.ofApp(caller, params.app, query.since),
  }),
  text({
    id: 'metrics.prometheus',
    section: null,
    summary: 'Show all apps as they are now, in the text format of Prometheus; for admins.',
    method: 'GET',
    path: '/metrics',
    access: 'user',
    errors: ['access.denied'],
    handle: ({ useCases, caller }) => useCases.metrics.prometheus(caller),
  }),
];
