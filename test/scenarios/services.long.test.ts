/** A service from its manifest to a bound app and back, over HTTP and a real provider; and over kill -9 in the middle. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PASSWORD } from '../../src/backends/service-endpoint/testing/faulty-server.ts';
import { type HttpProvider, startHttpProvider } from '../../src/backends/service-endpoint/testing/http-provider.ts';
import { allowPush, createIdentity, createWorkTree, type Identity, nodeApp, sshUrl } from '../support/git.ts';
import type { WorkTree } from '../support/git.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

const WAIT_MS = 60_000;
const CANARY = 'canary-that-the-provider-gave';

let world: World;
let provider: HttpProvider;
let ann: Identity;
let token: string;
let tree: WorkTree;

beforeAll(async () => {
  world = await startWorld();
  provider = await startHttpProvider();
  provider.variables = { GREETING: CANARY };
  ann = await createIdentity();
  token = await allowPush(world, ann);
  tree = await createWorkTree(nodeApp('shop'), ann);
  await ok('POST', '/apps', JSON.stringify({ name: 'shop', platform: 'nodejs' }));
  const pushed = await tree.push(sshUrl(world, 'shop'));
  expect(pushed.code, pushed.stderr).toBe(0);
  await ok(
    'POST',
    '/services',
    `id: db\nusername: platform\npassword: ${PASSWORD}\nendpoint:\n  production: ${provider.url}\n`,
  );
  await ok('POST', '/services/instances', JSON.stringify({ name: 'shop-db', service_name: 'db' }));
});

afterAll(async () => {
  await tree.dispose();
  await world.dispose();
  await ann.dispose();
  await provider.close();
});

async function ok(method: string, where: string, body?: string): Promise<string> {
  const answer = await world.api(method, where, { token, ...(body !== undefined && { body }) });
  expect([answer.status, answer.text.includes('"Message":"","Error"')], `${method} ${where}: ${answer.text}`).toEqual([
    200,
    false,
  ]);
  return answer.text;
}

const BINDING = '/services/instances/shop-db/shop';
const greeting = async (): Promise<string> => (await world.fetchApp('shop', '/env')).text;
const variables = async (): Promise<string[]> =>
  (JSON.parse(await ok('GET', '/apps/shop/env')) as { name: string }[]).map(({ name }) => name);
/** Of the app, not of its units. */
const bound = (): string[] => [...provider.bindings].filter((key) => key.split(' ').length === 2);

it('gives a running app what its provider gives, and takes it away', async () => {
  expect(await ok('GET', '/services/instances/shop-db/status')).toContain('Service instance "shop-db" is up');
  expect(JSON.parse(await ok('PUT', BINDING))).toEqual({ GREETING: CANARY });
  expect(await greeting()).toBe(CANARY);
  expect(await variables()).toEqual(['GREETING', 'TANCHO_SERVICES', 'TSURU_SERVICES']);
  expect(bound()).toEqual(['shop-db shop.localhost']);
  await until(async () => provider.bindings.size === 2, { timeoutMs: WAIT_MS, what: 'the provider to know the unit' });
  expect(await ok('GET', '/services/proxy/service/db?callback=/echo')).toContain('GET');
  await ok('DELETE', BINDING);
  expect(await greeting()).toBe('');
  expect(await variables()).toEqual([]);
  expect([...provider.bindings]).toEqual([]);
});

it('leaves nothing half-done when it is killed while the provider is at work', async () => {
  provider.fail('reset after', ({ path: where }) => where.endsWith('/bind-app'));
  const refused = await world.api('PUT', BINDING, { token });
  provider.fail(null);
  expect(refused.status).toBe(500);
  await until(async () => bound().length === 0, { timeoutMs: WAIT_MS, what: 'the binding to be undone' });

  provider.fail('hang', ({ path: where }) => where.endsWith('/bind-app'));
  const asked = provider.requests.length;
  const cut = world.api('PUT', BINDING, { token }).catch((error: unknown) => error);
  await until(async () => provider.requests.length > asked, { timeoutMs: WAIT_MS, what: 'the provider to be asked' });
  await world.end('SIGKILL');
  expect(await cut).toBeInstanceOf(Error);
  provider.fail(null);
  await world.startAgain();
  expect(await variables()).toEqual([]);
  expect(JSON.parse(await ok('PUT', BINDING))).toEqual({ GREETING: CANARY });
  expect(await greeting()).toBe(CANARY);
});

it('leaves nothing half-done when it is killed while the app restarts', async () => {
  await ok('DELETE', BINDING);
  const cut = world.api('PUT', BINDING, { token }).catch((error: unknown) => error);
  await until(async () => bound().length > 0, { timeoutMs: WAIT_MS, what: 'the provider to have bound', everyMs: 1 });
  await world.end('SIGKILL');
  await cut;
  await world.startAgain();
  const isBound = (await variables()).includes('GREETING');
  await until(async () => bound().length === (isBound ? 1 : 0), { timeoutMs: WAIT_MS, what: 'the provider to agree' });
  await until(async () => (await greeting()) === (isBound ? CANARY : ''), {
    timeoutMs: WAIT_MS,
    what: 'the app to agree',
  });
  if (!isBound) await ok('PUT', BINDING);
  expect(await greeting()).toBe(CANARY);
});

it('shows nobody what the provider gave, but the app', async () => {
  const shown = [
    await ok('GET', '/services'),
    await ok('GET', '/services/db'),
    await ok('GET', '/services/instances'),
    await ok('GET', '/services/instances/shop-db'),
    await ok('GET', '/apps/shop'),
    await ok('GET', '/apps/shop/log?lines=1000'),
    await ok('GET', '/deploys'),
    (await world.cli(['env', 'get', '-a', 'shop'])).stdout,
    (await world.cli(['instance', 'info', 'shop-db'])).stdout,
    world.output(),
    ...(await logFiles()),
  ].join('\n');
  expect(shown).toContain('shop-db');
  expect(shown).not.toContain(CANARY);
  expect(shown).not.toContain(PASSWORD);
});

async function logFiles(): Promise<string[]> {
  const folder = path.join(world.home, 'log');
  const names = await readdir(folder);
  expect(names.length).toBeGreaterThan(0);
  return Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
}

it('is driven by the command line, and goes with its app', async () => {
  const unbound = await world.cli(['instance', 'unbind', 'shop-db', '-a', 'shop']);
  expect([unbound.code, unbound.stderr]).toEqual([0, '']);
  const again = await world.cli(['instance', 'bind', 'shop-db', '-a', 'shop']);
  expect([again.code, again.stderr]).toEqual([0, '']);
  expect(again.stdout).toContain('  GREETING');
  expect(again.stdout).not.toContain(CANARY);
  expect((await world.cli(['service', 'list'])).stdout).toMatch(/db +shop-db/);
  expect((await world.cli(['instance', 'remove', 'shop-db', '--yes'])).code).not.toBe(0);
  await ok('DELETE', '/apps/shop');
  await until(async () => provider.bindings.size === 0, {
    timeoutMs: WAIT_MS,
    what: 'the provider to have unbound the app',
  });
  expect((await world.cli(['instance', 'remove', 'shop-db', '--yes'])).code).toBe(0);
  expect(provider.instances.size).toBe(0);
  expect((await world.cli(['service', 'remove', 'db', '--yes'])).code).toBe(0);
});
