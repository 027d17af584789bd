/** Section 4 of the specification, row by row. What a row's tests are: the titles that carry its operation's id in brackets. */
import type { Method } from '../../src/api/operation.ts';

export interface Row {
  readonly section: string;
  readonly method: Method;
  /** Null: this variant does not have it. */
  readonly a: string | null;
  readonly b: string | null;
}

function both(section: string, method: Method, path: string): Row {
  return { section, method, a: path, b: path };
}

export const ROWS: readonly Row[] = [
  both('4.1', 'GET', '/apps'),
  both('4.1', 'GET', '/apps/{app}'),
  both('4.1', 'DELETE', '/apps/{app}'),
  both('4.1', 'POST', '/apps'),
  both('4.1', 'GET', '/apps/{app}/restart'),
  both('4.1', 'GET', '/apps/{app}/env'),
  both('4.1', 'POST', '/apps/{app}/env'),
  both('4.1', 'DELETE', '/apps/{app}/env'),
  both('4.1', 'POST', '/apps/{app}/run'),
  both('4.1', 'PUT', '/swap'),
  { section: '4.1', method: 'GET', a: '/apps/{app}/log', b: '/apps/{app}/logs' },
  { section: '4.1', method: 'GET', a: '/pools', b: null },
  { section: '4.1', method: 'POST', a: '/apps/{app}/pool', b: null },
  both('4.2', 'GET', '/services'),
  both('4.2', 'POST', '/services'),
  both('4.2', 'PUT', '/services'),
  both('4.2', 'DELETE', '/services/{service}'),
  both('4.2', 'GET', '/services/{service}'),
  both('4.2', 'GET', '/services/{service}/doc'),
  both('4.2', 'PUT', '/services/{service}/doc'),
  both('4.2', 'PUT', '/services/{service}/{team}'),
  both('4.2', 'DELETE', '/services/{service}/{team}'),
  both('4.3', 'POST', '/services/instances'),
  both('4.3', 'DELETE', '/services/instances/{instance}'),
  both('4.3', 'PUT', '/services/instances/{instance}/{app}'),
  both('4.3', 'DELETE', '/services/instances/{instance}/{app}'),
  both('4.3', 'GET', '/services/instances'),
  both('4.3', 'GET', '/services/instances/{instance}'),
  both('4.3', 'GET', '/services/instances/{instance}/status'),
  both('4.4', 'GET', '/quota/{user}'),
  both('4.5', 'GET', '/healers'),
  both('4.5', 'GET', '/healers/{healer}'),
  both('4.6', 'GET', '/platforms'),
  both('4.7', 'POST', '/users'),
  both('4.7', 'POST', '/users/{email}/password'),
  both('4.7', 'POST', '/users/{email}/tokens'),
  both('4.7', 'DELETE', '/users/tokens'),
  { section: '4.7', method: 'GET', a: '/users/info', b: null },
  both('4.7', 'PUT', '/users/password'),
  both('4.7', 'DELETE', '/users'),
  both('4.7', 'POST', '/users/keys'),
  both('4.7', 'DELETE', '/users/keys'),
  both('4.7', 'GET', '/users/api-key'),
  both('4.7', 'POST', '/users/api-key'),
  both('4.8', 'GET', '/teams'),
  both('4.8', 'GET', '/teams/{team}'),
  both('4.8', 'POST', '/teams'),
  both('4.8', 'DELETE', '/teams/{team}'),
  both('4.8', 'PUT', '/teams/{team}/{user}'),
  both('4.8', 'DELETE', '/teams/{team}/{user}'),
  { section: '4.9', method: 'POST', a: null, b: '/tokens' },
  both('4.10', 'GET', '/deploys'),
  both('4.10', 'GET', '/deploys/{deploy}'),
  { section: '4.11', method: 'GET', a: '/info', b: null },
];
