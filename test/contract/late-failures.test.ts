/**
 * Clients that read nothing but the status: what fails late, because an app starts slowly, must not have been answered 200 before.
 * Every operation that changes what runs is asked in every variant that has it, over the real use cases with memory below them.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OPERATIONS } from '../../src/api/operations.ts';
import { SOON_MS } from '../../src/api/progress-answer.ts';
import { parseManifest } from '../../src/domain/services/manifest.ts';
import { Failure } from '../../src/domain/failure.ts';
import { ANN } from '../support/domain-world.ts';
import { type DomainApi, startDomainApi } from '../support/domain-api.ts';
import { ADMIN } from '../support/memory-api.ts';
import { until } from '../support/until.ts';
import { type ApiAnswer, type Ask, ask, login, type Target, targetAt, unique } from './target.ts';

let api: DomainApi;
let target: Target;
let token: string;
/** Apps whose units are slow, and never become ready. */
const broken = new Set<string>();

beforeAll(async () => {
  api = await startDomainApi();
  target = await targetAt({ baseUrl: api.baseUrl, adminEmail: ADMIN.email, adminPassword: ADMIN.password });
  token = await login(target, ADMIN.email, ADMIN.password);
  const { faults, machine, useCases } = api.world;
  const slowly = async (app: string): Promise<void> => {
    if (!broken.has(app)) return;
    await delay(SOON_MS + 300);
    throw new Failure('no_listener', 'It never listened.');
  };
  faults.on('provisioner.ready', async ([id]) => slowly((await machine.store.unit(String(id)))?.app ?? ''));
  faults.on('gitHost.remove', ([app]) => slowly(String(app)));
  await useCases.plans.create(
    { kind: 'platform' },
    { name: PLAN, memoryBytes: 64 * 1024 ** 2, cpuMillis: 0, ...PLAIN_PLAN },
  );
  await useCases.pools.create({ kind: 'platform' }, { name: POOL, isPublic: true, engine: 'elsewhere', options: {} });
  await useCases.services.create(ANN, parseManifest('id: db\npassword: s\nendpoint:\n  production: http://x\n'));
});
afterAll(() => api.dispose());

interface Case {
  readonly name: string;
  /** Of the operation; a case more than one may have it. */
  readonly id: string;
  /** Below which bases; the others do not have the operation. */
  readonly served: readonly string[];
  /** Done with the app before it breaks. */
  readonly before?: (app: string) => Promise<unknown>;
  readonly request: (app: string) => readonly [string, string, Ask?];
}

const EVERYWHERE = ['', '/a', '/b'];
const UNION = [''];
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const IMAGE = 'registry.test/app:1';
const PLAN = 'other';
const POOL = 'away';
const PLAIN_PLAN = { cpuShare: 0, diskBytes: 0, isDefault: false };

async function bound(app: string): Promise<void> {
  const { instances, bindings } = api.world.useCases;
  await instances.create(ANN, { name: `i-${app}`, service: 'db' });
  await bindings.bind(ANN, `i-${app}`, app, {}, () => {});
}

async function linkable(app: string): Promise<void> {
  await api.world.createApp(`${app}-to`);
}

const linkOf = (method: string, app: string): readonly [string, string] => [method, `/apps/${app}/links/${app}-to`];

const CASES: readonly Case[] = [
  {
    name: 'env set',
    id: 'env.set',
    served: EVERYWHERE,
    request: (app) => ['POST', `/apps/${app}/env`, { body: { A: 'b' } }],
  },
  {
    name: 'env unset',
    id: 'env.unset',
    served: EVERYWHERE,
    before: (app) => api.world.setEnv(app, { A: 'b' }),
    request: (app) => ['DELETE', `/apps/${app}/env`, { body: ['A'] }],
  },
  { name: 'restart', id: 'apps.restart', served: EVERYWHERE, request: (app) => ['GET', `/apps/${app}/restart`] },
  {
    name: 'bind',
    id: 'instances.bind',
    served: EVERYWHERE,
    before: (app) => api.world.useCases.instances.create(ANN, { name: `i-${app}`, service: 'db' }),
    request: (app) => ['PUT', `/services/instances/i-${app}/${app}`],
  },
  {
    name: 'unbind',
    id: 'instances.unbind',
    served: EVERYWHERE,
    before: bound,
    request: (app) => ['DELETE', `/services/instances/i-${app}/${app}`],
  },
  {
    name: 'removal of a bound instance',
    id: 'instances.remove',
    served: EVERYWHERE,
    before: bound,
    request: (app) => ['DELETE', `/services/instances/i-${app}?unbindall=true`],
  },
  { name: 'removal', id: 'apps.remove', served: EVERYWHERE, request: (app) => ['DELETE', `/apps/${app}`] },
  {
    name: 'another pool, on another engine',
    id: 'apps.pool',
    served: ['', '/a'],
    request: (app) => ['POST', `/apps/${app}/pool`, { body: POOL }],
  },
  { name: 'restart by POST', id: 'apps.restart', served: UNION, request: (app) => ['POST', `/apps/${app}/restart`] },
  {
    name: 'more units',
    id: 'units.add',
    served: UNION,
    request: (app) => ['PUT', `/apps/${app}/units`, { body: '1' }],
  },
  {
    name: 'start',
    id: 'apps.start',
    served: UNION,
    before: (app) => api.world.useCases.startStop.stop(ANN, app, '', () => {}),
    request: (app) => ['POST', `/apps/${app}/start`],
  },
  {
    name: 'rollback',
    id: 'deploys.rollback',
    served: UNION,
    before: (app) => api.deploy(app),
    request: (app) => ['POST', `/apps/${app}/deploy/rollback`, { body: 'image=v1', headers: FORM }],
  },
  {
    name: 'deploy of an image',
    id: 'deploys.create',
    served: UNION,
    request: (app) => [
      'POST',
      `/apps/${app}/deploy`,
      { body: `image=${encodeURIComponent(IMAGE)}`, headers: { ...FORM, accept: '*/*' } },
    ],
  },
  {
    name: 'a number of units',
    id: 'units.set',
    served: UNION,
    request: (app) => ['PUT', `/apps/${app}/processes/web/units?units=2`],
  },
  {
    name: 'another plan',
    id: 'apps.plan',
    served: UNION,
    request: (app) => ['POST', `/apps/${app}/plan`, { body: { name: PLAN } }],
  },
  {
    name: 'another plan among other changes',
    id: 'apps.update',
    served: UNION,
    request: (app) => ['PUT', `/apps/${app}`, { body: { description: 'x', plan: PLAN } }],
  },
  {
    name: 'bind by the path with the service',
    id: 'instances.bind_of_service',
    served: UNION,
    before: (app) => api.world.useCases.instances.create(ANN, { name: `i-${app}`, service: 'db' }),
    request: (app) => ['PUT', `/services/db/instances/i-${app}/${app}`],
  },
  {
    name: 'removal of a bound instance by the path with the service',
    id: 'instances.remove_of_service',
    served: UNION,
    before: bound,
    request: (app) => ['DELETE', `/services/db/instances/i-${app}?unbindall=true`],
  },
  { name: 'a link', id: 'links.add', served: UNION, before: linkable, request: (app) => linkOf('PUT', app) },
  {
    name: 'the end of a link',
    id: 'links.remove',
    served: UNION,
    async before(app) {
      await linkable(app);
      await api.world.useCases.links.add(ANN, app, `${app}-to`, () => {});
    },
    request: (app) => linkOf('DELETE', app),
  },
  {
    name: 'a volume',
    id: 'volumes.mount',
    served: UNION,
    before: (app) => api.world.useCases.volumes.create(ANN, app, { name: 'data' }),
    request: (app) => ['PUT', `/apps/${app}/volumes/data/mount`, { body: { path: 'data' } }],
  },
  {
    name: 'the end of a volume',
    id: 'volumes.unmount',
    served: UNION,
    async before(app) {
      await api.world.useCases.volumes.create(ANN, app, { name: 'data' });
      await api.world.useCases.volumes.mount(ANN, app, 'data', { path: 'data', processes: [] }, () => {});
    },
    request: (app) => ['DELETE', `/apps/${app}/volumes/data/mount`],
  },
];

/** Long, too, but nothing is started by them. */
const STARTS_NOTHING = ['apps.stop', 'units.remove', 'platforms.add', 'platforms.update', 'backups.make'];

it('every operation that says what it does, or may fail for a unit, is among those that are asked', () => {
  const reported = OPERATIONS.filter(
    ({ answer, errors }) => answer === 'progress' || errors.includes('unit.failed'),
  ).map(({ id }) => id);
  const missing = reported.filter((id) => !STARTS_NOTHING.includes(id) && !CASES.some((one) => one.id === id));
  expect(missing).toEqual([]);
});

async function deployedApp(): Promise<string> {
  const app = unique('late-');
  await api.world.createApp(app);
  await api.deploy(app);
  return app;
}

async function askLate(prefix: string, { before, request }: Case, headers = {}): Promise<{ got: ApiAnswer }> {
  api.world.machine.images.images.set(IMAGE, { digest: `sha256:${'5'.repeat(64)}` });
  const app = await deployedApp();
  await before?.(app);
  broken.add(app);
  const [method, path, what = {}] = request(app);
  const got = await ask(target, method, prefix + path, { ...what, token, headers: { ...what.headers, ...headers } });
  return { got };
}

it.concurrent.each(['', '/a', '/b'])('below "%s" what fails late has the status of its failure', async (prefix) => {
  const served = CASES.filter(({ served }) => served.includes(prefix));
  const answers = await Promise.all(served.map(async (one) => ({ name: one.name, ...(await askLate(prefix, one)) })));
  for (const { name, got } of answers) {
    expect(got.status, `${name}: ${got.text}`).toBeGreaterThanOrEqual(400);
    expect(got.code, name).toBeDefined();
    expect(got.text, name).not.toContain('"Message"');
  }
});

it.concurrent.each([
  ['by the path', '/1.0', {}],
  ['by a type', '', { accept: 'application/x-json-stream' }],
  ['by JSON', '', { accept: 'application/json' }],
])('whoever asks for a stream %s learns of the failure in its last line', async (_, prefix, headers) => {
  const [set] = CASES;
  if (set === undefined) throw new Error('no case');
  const { got } = await askLate(prefix, set, headers);
  expect([got.status, got.headers['content-type']]).toEqual([200, 'application/x-json-stream']);
  const last = got.text.trim().split('\n').at(-1) ?? '';
  expect(JSON.parse(last)).toMatchObject({ Error: expect.any(String) as string });
});

it('goes on when the client has left, and the next answer says what became of it', async () => {
  const app = await deployedApp();
  const held = api.world.faults.hold('provisioner.ensure');
  const client = new AbortController();
  const headers = { authorization: `bearer ${token}`, 'content-type': 'application/json' };
  const asked = fetch(`${api.baseUrl}/a/apps/${app}/env`, {
    ...{ method: 'POST', headers, body: '{"LATE":"yes"}', signal: client.signal },
  });
  await held.reached;
  client.abort();
  await expect(asked).rejects.toThrow();
  held.release();
  const isSet = async () => (await ask(target, 'GET', `/a/apps/${app}/env`, { token })).text.includes('LATE');
  await until(isSet, { what: 'the variable' });
});
