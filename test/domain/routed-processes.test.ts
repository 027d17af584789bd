/** Process types beside `web` that get requests, each at a name of its own. */
import { request } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { wantedCertificates } from '../../src/domain/certificates/wanted.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { until } from '../support/until.ts';
import type { Recipe } from '../support/memory-builds.ts';

const ADMIN = 'admin.shop.apps.test';
const RECIPE: Recipe = {
  processes: { web: 'serve', admin: 'serve', worker: 'stay' },
  settings: { admin: { routed: true } },
};

let world: DomainWorld;
let said: string[];
const say = (line: string): void => void said.push(line);

beforeEach(async () => {
  said = [];
  world = await startDomain();
  await world.createApp('shop');
});
afterEach(() => world.dispose());

/** Status and body of a request through the router. */
function ask(host: string): Promise<{ readonly status: number; readonly text: string }> {
  const [address = '', port] = world.machine.router.listen.split(':');
  return new Promise((resolve, reject) => {
    const asked = request({ host: address, port, headers: { host }, agent: false }, async (answer) => {
      let text = '';
      for await (const chunk of answer) text += String(chunk);
      resolve({ status: answer.statusCode ?? 0, text });
    });
    asked.once('error', reject).end();
  });
}

async function unitsOf(process: string): Promise<string[]> {
  return (await world.machine.store.units('shop')).filter((unit) => unit.process === process).map(({ id }) => id);
}

const targetsOf = (host: string): string[] | undefined =>
  world.machine
    .table()
    .routes.find(({ hosts }) => hosts.includes(host))
    ?.targets.map(({ unit }) => unit);

it('each gets the requests for its own name, and web none of them', async () => {
  await world.deploy('shop', RECIPE, { say });
  expect(targetsOf('shop.apps.test')).toEqual(await unitsOf('web'));
  expect(targetsOf(ADMIN)).toEqual(await unitsOf('admin'));
  expect((await ask(ADMIN)).status).toBe(200);
  expect((await ask('worker.shop.apps.test')).status).toBe(404);
  expect(said.join('\n')).toContain(`admin answers at http://${ADMIN}`);
  const { processUrls } = await world.useCases.apps.info(ANN, 'shop');
  expect(processUrls).toEqual([{ process: 'admin', url: `http://${ADMIN}` }]);
  await expectSound(world);
});

it('its name is there for as long as the release that serves says so, also over a restart of control', async () => {
  await world.deploy('shop', RECIPE);
  world = await world.next();
  expect(targetsOf(ADMIN)).toEqual(await unitsOf('admin'));
  await world.deploy('shop', { processes: { web: 'serve', admin: 'stay' } });
  expect(targetsOf(ADMIN)).toBeUndefined();
  expect((await ask(ADMIN)).status).toBe(404);
  await world.useCases.deploys.rollback(ANN, 'shop', '1', say);
  expect((await ask(ADMIN)).status).toBe(200);
  await expectSound(world);
});

it('one that never listens, or fails its own health check, fails the deploy', async () => {
  await world.deploy('shop', RECIPE);
  const before = targetsOf(ADMIN);
  const deaf = { ...RECIPE, processes: { web: 'serve', admin: 'stay' } };
  await expect(world.deploy('shop', deaf)).rejects.toMatchObject({ details: { cause: 'no_listener' } });
  const ends = { ...RECIPE, processes: { web: 'serve', admin: 'exit 0' } };
  await expect(world.deploy('shop', ends)).rejects.toMatchObject({ details: { cause: 'exited' } });
  const sick: Recipe = { ...RECIPE, settings: { admin: { routed: true, healthCheck: { path: '/broken' } } } };
  await expect(world.deploy('shop', sick)).rejects.toMatchObject({ details: { cause: 'health_check_failed' } });
  expect(targetsOf(ADMIN)).toEqual(before);
  await expectSound(world);
});

it('it is scaled by itself; without units, or stopped, it is answered 503 with the reason, and web serves', async () => {
  await world.deploy('shop', RECIPE);
  await world.useCases.scale.set(ANN, 'shop', { process: 'admin', units: 3 }, say);
  expect(targetsOf(ADMIN)?.sort()).toEqual((await unitsOf('admin')).sort());
  expect(await unitsOf('admin')).toHaveLength(3);
  await world.useCases.scale.set(ANN, 'shop', { process: 'admin', units: 0 }, say);
  const none = await ask(ADMIN);
  expect([none.status, none.text]).toEqual([503, expect.stringContaining('No unit of the process "admin"')]);
  await world.useCases.scale.set(ANN, 'shop', { process: 'admin', units: 1 }, say);
  await world.useCases.startStop.stop(ANN, 'shop', 'admin', say);
  const stopped = await ask(ADMIN);
  expect([stopped.status, stopped.text]).toEqual([
    503,
    expect.stringContaining('"admin" of the app "shop" is stopped'),
  ]);
  expect((await ask('shop.apps.test')).status).toBe(200);
  await expectSound(world);
});

it('one that hangs is started again, as web is', async () => {
  await world.deploy('shop', RECIPE);
  const [id = ''] = await unitsOf('admin');
  const entry = world.machine.units.entries.get(id);
  expect(entry?.spec).toMatchObject({ listens: true, liveness: { kind: 'accept' } });
  await world.machine.units.kill(id);
  await until(async () => (await world.machine.store.unit(id))?.exits === 1, { what: 'its death' });
  await expectSound(world);
  expect((await ask(ADMIN)).status).toBe(200);
});

it('its name follows the address of the app when two apps swap theirs', async () => {
  await world.createApp('next');
  await world.deploy('next');
  await world.deploy('shop', RECIPE);
  await world.useCases.swap.swap(ANN, 'shop', 'next', { force: true, cnameOnly: false });
  expect(targetsOf('admin.next.apps.test')).toEqual(await unitsOf('admin'));
  expect(targetsOf(ADMIN)).toBeUndefined();
});

it('why explains it by its own name', async () => {
  await world.deploy('shop', RECIPE);
  const why = () => world.useCases.diagnoses.ofAddress(ANN, `http://${ADMIN}/`);
  expect(await why()).toMatchObject({ app: 'shop', host: ADMIN, answers: true, well: true });
  await world.useCases.startStop.stop(ANN, 'shop', 'admin', say);
  expect(await why()).toMatchObject({
    ...{ answers: false, well: false },
    broken: { link: 'state', command: 'tancho app start shop --process admin' },
  });
  expect(await world.useCases.diagnoses.ofApp(ANN, 'shop')).toMatchObject({ answers: true, well: true });
});

it('a wildcard for the domain is not good for it: it gets a certificate of its own', async () => {
  await world.deploy('shop', RECIPE);
  const apps = await world.machine.store.apps();
  const all = { domain: 'apps.test', ownNames: [], uploads: [] };
  const names = (wildcard: boolean) => wantedCertificates({ apps, ...all, wildcard }).flatMap((one) => one.names);
  expect(names(true)).toEqual(['*.apps.test', ADMIN]);
  expect(names(false)).toEqual(['shop.apps.test', ADMIN]);
});

it('the healer of routes sees a router that does not know it', async () => {
  await world.deploy('shop', RECIPE);
  const { routes } = world.machine.table();
  await world.machine.router.apply({ version: 1e15, routes: routes.filter(({ process }) => process === undefined) });
  expect(await world.parts.routes.faults()).toEqual([
    { app: 'shop', problem: 'The router does not know the process "admin" of the app.' },
  ]);
});
