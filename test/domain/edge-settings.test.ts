/** How the edge treats requests is a setting of the app: in effect at once, without its units, and judged before it is stored. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { request } from 'node:http';
import { DEFAULT_EDGE } from '../../src/domain/apps/edge-settings.ts';
import type { UserCaller } from '../../src/domain/caller.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

const BOB: UserCaller = { ...ANN, email: 'bob@example.com', teams: ['others'] };

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
  await world.deploy('shop');
  await world.settled();
});
afterEach(() => world.dispose());

const change = (to: Record<string, unknown>) => world.useCases.appEdge.change(ANN, 'shop', to);

function status(path = '/'): Promise<number> {
  return new Promise((resolve, reject) => {
    const to = `http://${world.machine.router.listen}${path}`;
    const asked = request(to, { headers: { host: 'shop.apps.test' }, agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    });
    asked.on('error', reject).end();
  });
}

it('is in effect when the change returns, and touches no unit', async () => {
  const units = await world.machine.store.units('shop');
  expect(await status()).toBe(200);
  expect(await change({ maintenance: true, maintenancePage: '<h1>Soon</h1>' })).toEqual({
    ...DEFAULT_EDGE,
    maintenance: true,
    maintenancePage: '<h1>Soon</h1>',
  });
  expect(await status()).toBe(503);
  await change({ maintenance: 'off' });
  expect(await status()).toBe(200);
  expect(await world.machine.store.units('shop')).toEqual(units);
  const { maintenancePage } = await world.useCases.appEdge.settings(ANN, 'shop');
  expect(maintenancePage).toBe('<h1>Soon</h1>');
});

it("the page for maintenance is that of the settings, else that of the release that serves, else the edge's own", async () => {
  const page = (): string | undefined => world.machine.table().routes[0]?.rules?.maintenance?.page;
  await world.deploy('shop', { maintenancePage: '<h1>From the source</h1>' });
  await change({ maintenance: true });
  expect(page()).toBe('<h1>From the source</h1>');
  await world.machine.store.transact((tx) => tx.updateApp('shop', { description: 'read anew with all others' }));
  await world.parts.routes.publish();
  expect(page()).toBe('<h1>From the source</h1>');
  await change({ maintenancePage: '<h1>Set</h1>' });
  expect(page()).toBe('<h1>Set</h1>');
  await change({ maintenancePage: '' });
  await world.deploy('shop');
  expect(page()).toBe('');
});

it('can be changed while a deploy has the app', async () => {
  const held = world.faults.hold('provisioner.ensure');
  const deploy = world.deploy('shop');
  await held.reached;
  await change({ maintenance: true });
  expect(await status()).toBe(503);
  held.release();
  await deploy;
  await world.settled();
  expect(await status()).toBe(503);
  expect((await world.machine.store.app('shop'))?.edge.maintenance).toBe(true);
});

it('stays with the app: over deploys, a return to an older release, and the next start', async () => {
  await change({ hold: 'unserved', holdSeconds: 90, maxRequests: '12', redirectHttps: false });
  await world.deploy('shop');
  await world.settled();
  const next = await world.next();
  const edge = await next.useCases.appEdge.settings(ANN, 'shop');
  expect(edge).toEqual({ ...DEFAULT_EDGE, hold: 'unserved', holdSeconds: 90, maxRequests: 12, redirectHttps: false });
  const route = (await next.machine.router.table()).routes.find(({ app }) => app === 'shop');
  expect(route).toMatchObject({
    https: 'both',
    rules: { hold: { when: 'unserved', seconds: 90 }, maxRequests: 12 },
  });
  world = next;
});

it('is taken back by null, and nothing of it is in the route then', async () => {
  await change({ sticky: true, responseTimeoutSeconds: 5 });
  expect(await change({ sticky: null, responseTimeoutSeconds: null })).toEqual(DEFAULT_EDGE);
  const route = (await world.machine.router.table()).routes.find(({ app }) => app === 'shop');
  expect(route).not.toHaveProperty('rules');
});

it.each([
  [{ hold: 'sometimes' }, /hold is off, unserved, always/],
  [{ holdSeconds: 0 }, /from 1 to 300/],
  [{ holdSeconds: 301 }, /from 1 to 300/],
  [{ maxBodyBytes: -1 }, /whole number/],
  [{ maxRequests: 1.5 }, /whole number/],
  [{ responseTimeoutSeconds: 'long' }, /whole number/],
  [{ maintenance: 'maybe' }, /true or false/],
  [{ maintenancePage: 'x'.repeat(16_385) }, /16384 bytes/],
  [{}, /Nothing to change/],
  [{ maintenance: true, hold: 'x' }, /hold/],
])('refuses %j, and changes nothing', async (given, message) => {
  await expect(change(given)).rejects.toMatchObject({ code: 'input.invalid', message: expect.stringMatching(message) });
  expect(await world.useCases.appEdge.settings(ANN, 'shop')).toEqual(DEFAULT_EDGE);
});

it("is for the app's teams", async () => {
  const { appEdge } = world.useCases;
  await expect(appEdge.settings(BOB, 'shop')).rejects.toMatchObject({ code: 'access.denied' });
  await expect(appEdge.change(BOB, 'shop', { sticky: true })).rejects.toMatchObject({ code: 'access.denied' });
  await expect(appEdge.change(ANN, 'none', { sticky: true })).rejects.toMatchObject({ code: 'app.not_found' });
});

it('is put right by the healer of routes where the router has it otherwise', async () => {
  await change({ sticky: true });
  const table = await world.machine.router.table();
  const routes = table.routes.map(({ rules: _rules, ...route }) => route);
  await world.machine.router.apply({ version: table.version + 1, routes });
  expect((await world.parts.routes.faults()).map(({ app }) => app)).toEqual(['shop']);
  await world.parts.routes.republish();
  expect(await world.parts.routes.faults()).toEqual([]);
});

it('has the requests of an app in its log, from the router, without what is private', async () => {
  const secret = { name: 'KEY', value: 's3cret-key', public: false };
  await world.useCases.env.set(ANN, 'shop', [secret], { noRestart: false }, () => {});
  await world.settled();
  const { accessLines } = world.parts;
  await accessLines.collect();
  expect(await lines()).toEqual([]);
  await change({ accessLog: true });
  await status('/a?key=s3cret-key');
  await expect.poll(() => accessLines.collect().then(lines)).toHaveLength(1);
  const [line] = await lines();
  expect(line).toContain('path="/a?key=');
  expect(line).toContain('status=200');
  expect(line).not.toContain('s3cret-key');
  await change({ accessLog: false });
  await status('/b');
  await accessLines.collect();
  expect(await lines()).toHaveLength(1);
});

async function lines(): Promise<string[]> {
  const entries = await world.useCases.logs.query(ANN, 'shop', { lines: 100, source: 'router' });
  return entries.map(({ message }) => message);
}
