/** Everything that the API can do can be done in the dashboard, or it is said here why not. */
import { readdir, readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { CALLS } from '../../src/client/operations/index.ts';
import { ACTIONS, ELSEWHERE } from './actions.ts';

const SOURCES = new URL('../../src/dashboard/', import.meta.url);

/** Operations that no part of the dashboard calls, and why. A new operation needs a place or a reason. */
const WITHOUT_PLACE: Readonly<Record<string, string>> = {
  'api_key.show_text': 'the published operation shows the same',
  'app_tokens.revoke': 'tokens are revoked one by one, in the settings of the app',
  'apps.custom_data': 'for programs that leave data with an app',
  'apps.log_push': 'for programs beside the units that have lines for the log',
  'apps.metric_envs': 'there are none',
  'apps.pool': 'saving the settings of the app changes it with the rest of the record',
  'apps.routes': 'routes are brought by themselves; to ask for it is for operators with a terminal',
  'apps.shell': 'the terminal opens a websocket',
  'apps.team_owner': 'saving the settings of the app changes it with the rest of the record',
  'apps.unlock': 'it only waits, and nothing in the dashboard is locked',
  'auth.login': 'pages sign in by a session that no script can read',
  'auth.scheme': 'there is one way to sign in',
  'deploys.available': 'for builders that ask before they build',
  'drains.info': 'the list shows all of it',
  'edge_tokens.create': 'edges on other machines are set up by operators with a terminal',
  'edge_tokens.list': 'edges on other machines are set up by operators with a terminal',
  'edge_tokens.revoke': 'edges on other machines are set up by operators with a terminal',
  'edges.follow': 'for edges',
  'edges.list': 'edges on other machines are set up by operators with a terminal',
  'events.log': 'for programs that prove the log; a page could not prove what its own server says',
  'instances.bind_of_service': 'the published operation does the same',
  'instances.proxy': 'for programs that speak with the provider of a service',
  'instances.remove_of_service': 'the published operation does the same',
  'keys.remove': 'keys are removed by their names',
  'logs.clear': 'for programs of operators',
  'plans.routers': 'there is one router',
  'pools.list': 'the other list shows more',
  'quotas.user': 'the other operation shows more',
  'services.proxy': 'for programs that speak with the provider of a service',
  'units.add': 'the number of units is set',
  'units.known': 'for programs beside the units',
  'units.register': 'for programs beside the units',
  'units.remove': 'the number of units is set',
  'units.report': 'for programs beside the units',
  'users.login': 'pages sign in by a session that no script can read',
  'users.logout': 'pages end the session of their browser',
  'volumes.info': 'the list shows all of it',
};

/** Line of an operation -> modules that call it. */
const calledBy = new Map<string, string[]>();

beforeAll(async () => {
  for (const name of await readdir(SOURCES, { recursive: true })) {
    if (!/(?<!\.test)\.tsx?$/.test(name)) continue;
    const source = await readFile(new URL(name, SOURCES), 'utf8');
    for (const [, line = ''] of source.matchAll(/'((?:GET|POST|PUT|DELETE) \/[^']*)'/g)) {
      calledBy.set(line, [...(calledBy.get(line) ?? []), name]);
    }
  }
});

/** Further ways to call the same operation are one with it. */
function operations(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [id, { method, path }] of Object.entries(CALLS)) {
    const name = id.replace(/-(?:get|post|put|delete)$/, '');
    found.set(name, [...(found.get(name) ?? []), `${method} ${path}`]);
  }
  return found;
}

it('every operation has a place in the dashboard, or a reason for having none', () => {
  const ids = [...operations()];
  const without = ids.filter(([, lines]) => !lines.some((line) => calledBy.has(line))).map(([id]) => id);
  console.log(`${ids.length - without.length} of ${ids.length} operations are called by the dashboard`);
  expect(without.sort()).toEqual(Object.keys(WITHOUT_PLACE).sort());
});

it('every operation that changes something is in the table of actions, and every one of the table is sent', () => {
  const sent = [...calledBy.keys()].filter((line) => !line.startsWith('GET '));
  expect(sent.length).toBeGreaterThan(80);
  const known = new Set<string>([...ACTIONS.map(({ sends }) => sends), ...Object.keys(ELSEWHERE)]);
  expect(sent.filter((line) => !known.has(line))).toEqual([]);
  expect([...known].filter((line) => !calledBy.has(line))).toEqual([]);
});
