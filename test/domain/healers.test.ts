/** Every healer on the disorder it is for: it names it, puts it in order, and a second run finds nothing to do. */
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { UserCaller } from '../../src/domain/caller.ts';
import type { HealingReport } from '../../src/domain/healers/healer.ts';
import { HealerRounds } from '../../src/domain/healers/rounds.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

const ADMIN: UserCaller = { ...ANN, email: 'root@example.com', isAdmin: true };
const BOB: UserCaller = { ...ANN, email: 'bob@example.com', teams: ['others'] };
const NAMES = ['elsewhere', 'networks', 'operations', 'repositories', 'routes', 'services', 'slugs', 'strays', 'units'];

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
  await world.deploy('shop');
  await world.settled();
});
afterEach(() => world.dispose());

const run = (name: string): Promise<HealingReport> => world.useCases.healers.run(ADMIN, name);

/** What was healed; then nothing is left to do. */
async function healed(name: string): Promise<string[]> {
  const { found } = await run(name);
  expect(found.filter(({ outcome }) => outcome !== 'healed')).toEqual([]);
  expect((await run(name)).found).toEqual([]);
  return found.map(({ target }) => target);
}

async function theUnit() {
  const [unit] = await world.machine.store.units('shop');
  if (unit === undefined) throw new Error('no unit');
  return unit;
}

const rounds = (): HealerRounds =>
  new HealerRounds({ healers: world.useCases.healers, everyMs: 0, logger: SILENT, now: world.machine.now });

it('find nothing where all is in order', async () => {
  for (const name of NAMES) expect((await run(name)).found, name).toEqual([]);
});

it('restore the packet filter of units that an operator has emptied', async () => {
  world.machine.units.networkFault = 'the packet filter of units is not on the machine any more';
  expect(await healed('networks')).toEqual(['networks']);
});

it('start a unit whose death nobody noted', async () => {
  const { id } = await theUnit();
  const entry = world.machine.units.entries.get(id);
  if (entry !== undefined) entry.isSilent = true;
  await world.machine.units.kill(id);
  expect(await healed('units')).toEqual([`unit:${id}`]);
  expect(await theUnit()).toMatchObject({ id, state: 'started', exits: 1 });
  const routed = world.machine.table().routes.flatMap((route) => route.targets.map(({ unit }) => unit));
  expect(routed).toEqual([id]);
});

it('leave alone what an engine has that is away: nobody knows that it is dead, and nobody could end it', async () => {
  const { id } = await theUnit();
  const spec = world.machine.units.entries.get(id)?.spec;
  if (spec === undefined) throw new Error('no unit');
  await world.machine.provisioner().ensure({ ...spec, id: 'unrecorded' });
  world.machine.units.awayFor = 'the cluster is away';
  for (const name of ['units', 'strays']) expect((await run(name)).found, name).toEqual([]);
  expect(await theUnit()).toMatchObject({ id, state: 'started', exits: 0 });
  world.machine.units.awayFor = null;
  expect((await run('strays')).found.map(({ target }) => target)).toEqual(['unit:unrecorded']);
});

it('start a unit that nobody starts, and leave one to the supervisor that it is looking after', async () => {
  const { id } = await theUnit();
  await world.machine.store.transact((tx) => tx.updateUnit(id, { state: 'error', address: null }));
  expect(await healed('units')).toEqual([`unit:${id}`]);
  const held = world.faults.hold('provisioner.ensure');
  await world.machine.units.kill(id);
  await held.reached;
  expect((await run('units')).found).toEqual([]);
  held.release();
  await expect.poll(async () => (await theUnit()).state).toBe('started');
});

it('say so when a unit does not start', async () => {
  const { id } = await theUnit();
  await world.machine.store.transact((tx) => tx.updateUnit(id, { state: 'error', address: null }));
  world.faults.on('provisioner.ensure', () => {
    throw new Error('the disk is on fire');
  });
  const { found } = await run('units');
  expect(found).toMatchObject([{ target: `unit:${id}`, outcome: 'failed' }]);
  expect(JSON.stringify(found)).not.toContain('fire');
});

it('give the router the right table, also when its own is newer', async () => {
  const { router, table } = world.machine;
  const right = table();
  const wrong = [
    [],
    right.routes.map((route) => ({ ...route, hosts: ['elsewhere.test'] })),
    right.routes.map((route) => ({ ...route, targets: [{ unit: 'gone', host: '127.0.0.1', port: 9 }] })),
    [...right.routes, { app: 'nobody', hosts: ['nobody.test'], targets: [], note: '', https: 'redirect' as const }],
  ];
  for (const [index, routes] of wrong.entries()) {
    await router.apply({ version: table().version + 50_000, routes });
    expect(await healed('routes'), `${index}`).toHaveLength(1);
    expect((await router.table()).routes).toEqual(right.routes);
  }
  await world.restart('shop');
  await world.settled();
  expect((await run('routes')).found).toEqual([]);
});

it('finish or undo what was left unfinished', async () => {
  const { store } = world.machine;
  const app = await store.app('shop');
  const [deploy] = await store.deploys({ limit: 1, skip: 0 });
  if (deploy === undefined || app?.release == null) throw new Error('nothing was deployed');
  const rollout = await store.rollout(app.rollout ?? '');
  await world.createApp('old');
  await store.transact(async (tx) => {
    await tx.insertDeploy({ ...deploy, id: 'd1', state: 'building', artifact: '' });
    if (rollout !== null) await tx.insertRollout({ ...rollout, id: 'r1', state: 'starting' });
    await tx.updateApp('old', { removing: true });
  });
  expect((await healed('operations')).sort()).toEqual(['app:old', 'deploy:d1', 'rollout:r1']);
  expect(await store.deploy('d1')).toMatchObject({ state: 'failed', cause: 'interrupted' });
  expect(await store.rollout('r1')).toMatchObject({ state: 'failed', cause: 'interrupted' });
  expect(await store.app('old')).toBeNull();
  expect(await store.release('shop', app.release)).not.toBeNull();
});

it('remove what no app owns, and make a repository that is missing', async () => {
  const { gitHost, artifacts } = world.machine;
  await gitHost.create('stray');
  await gitHost.remove('shop');
  artifacts.kept.set('shop/forgotten', { app: 'shop' });
  artifacts.kept.set('stray/forgotten', { app: 'stray' });
  expect((await healed('repositories')).sort()).toEqual(['repository:shop', 'repository:stray']);
  expect(await gitHost.list()).toEqual(['shop']);
  expect((await healed('slugs')).sort()).toEqual(['slug:shop/forgotten', 'slug:stray/forgotten']);
  expect(artifacts.kept.size).toBe(1);
});

it('that look for code which nobody needs ask twice, however many apps there are', async () => {
  const { artifacts } = world.machine;
  for (let number = 0; number < 20; number++) {
    const app = `app${number}`;
    artifacts.kept.set(`${app}/code`, { app });
  }
  let asked = 0;
  for (const name of ['store.artifacts', 'store.unfinishedDeploys']) world.faults.on(name, () => void (asked += 1));
  let listed = 0;
  world.faults.on('artifacts.list', ([app]) => void (listed += app === undefined ? 1 : 0));
  expect((await run('slugs')).found).toHaveLength(20);
  // Two to find them, and two before each is removed.
  expect(asked).toBe(2 + 2 * 20);
  expect(listed).toBe(1);
});

it('name what was healed lately, whatever else has happened since', async () => {
  await world.machine.gitHost.create('stray');
  await run('repositories');
  await world.machine.store.transact(async (tx) => {
    const [event] = await tx.events(1);
    if (event === undefined) throw new Error('no event');
    for (let number = 0; number < 5_001; number++) {
      await tx.insertEvent({ ...event, id: `later${number}`, action: 'env.set', target: 'app:shop' });
    }
  });
  expect((await world.useCases.healers.recent(ADMIN)).map(({ target }) => target)).toEqual(['repository:stray']);
});

it('end units that belong to nothing', async () => {
  const { store, units } = world.machine;
  const unit = await theUnit();
  const spec = units.entries.get(unit.id)?.spec;
  if (spec === undefined) throw new Error('no spec');
  await world.machine.provisioner().ensure({ ...spec, id: 'unrecorded' });
  await store.transact((tx) => tx.insertUnit({ ...unit, id: 'leftover', index: 7, rollout: 'over' }));
  expect((await healed('strays')).sort()).toEqual(['unit:leftover', 'unit:unrecorded']);
  expect((await store.units('shop')).map(({ id }) => id)).toEqual([unit.id]);
  expect(units.entries.get(unit.id)?.unit.exit).toBeNull();
});

it('leave alone what an operation is busy with', async () => {
  world.machine.artifacts.kept.set('shop/forgotten', { app: 'shop' });
  await world.parts.leases.hold('app:shop', { waitMs: 1_000, holder: 'a test' }, async () => {
    expect((await run('slugs')).found).toEqual([]);
  });
  expect(await healed('slugs')).toEqual(['slug:shop/forgotten']);
});

it('find nothing to do while deploys and restarts are under way', async () => {
  const seen: string[] = [];
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      await setImmediate();
      for (const name of NAMES) seen.push(...(await run(name)).found.map(({ target }) => `${name} ${target}`));
    }
  })();
  try {
    for (let round = 0; round < 3; round += 1) {
      await world.deploy('shop');
      await world.restart('shop');
    }
    await world.settled();
  } finally {
    isOver = true;
    await looking;
  }
  const { store } = world.machine;
  expect(seen).toEqual([]);
  expect((await store.deploys({ limit: 9, skip: 0 })).map(({ state }) => state)).toEqual(Array(4).fill('done'));
  expect(await theUnit()).toMatchObject({ state: 'started' });
});

it('run by themselves: what is seen twice is healed, what throws code away only after its grace', async () => {
  const { store, gitHost } = world.machine;
  const { id } = await theUnit();
  await gitHost.create('stray');
  await store.transact((tx) => tx.updateUnit(id, { state: 'error', address: null }));
  const own = rounds();
  await own.round();
  expect((await theUnit()).state).toBe('error');
  await own.round();
  expect((await theUnit()).state).toBe('started');
  expect(await gitHost.list()).toContain('stray');
  world.machine.pass(25 * 60 * 60_000);
  await own.round();
  expect(await gitHost.list()).not.toContain('stray');
  await own.close();
});

it('put in order what is about the apps of a user, and report nothing else', async () => {
  const { healers } = world.useCases;
  const { artifacts } = world.machine;
  for (const app of ['shop', 'stray']) artifacts.kept.set(`${app}/forgotten`, { app });
  expect((await healers.list(ANN)).map(({ name }) => name)).toEqual(NAMES.filter((name) => name !== 'elsewhere'));
  expect((await healers.run(BOB, 'slugs')).found).toEqual([]);
  const { found } = await healers.run(ANN, 'slugs');
  expect(found).toMatchObject([{ target: 'slug:shop/forgotten', outcome: 'healed' }]);
  expect([...artifacts.kept.keys()]).toContain('stray/forgotten');
  await expect(healers.run(ANN, 'elsewhere')).rejects.toMatchObject({ code: 'access.denied' });
  await expect(healers.recent(ANN)).rejects.toMatchObject({ code: 'access.denied' });
});

it('run for a user without keeping those of the platform from running', async () => {
  const { healers } = world.useCases;
  const { id } = await theUnit();
  await world.machine.store.transact((tx) => tx.updateUnit(id, { state: 'error', address: null }));
  await world.machine.gitHost.create('stray');
  const held = world.faults.hold('provisioner.ensure');
  const theirs = healers.run(ANN, 'units');
  await held.reached;
  await healers.round(() => true);
  expect(await world.machine.gitHost.list()).toEqual(['shop']);
  held.release();
  expect((await theirs).found).toMatchObject([{ target: `unit:${id}`, outcome: 'healed' }]);
});

it('run one at a time, and leave events', async () => {
  const { healers } = world.useCases;
  await expect(healers.run(ADMIN, 'no-such')).rejects.toMatchObject({ code: 'healer.not_found' });
  expect((await healers.list(ADMIN)).map(({ name }) => name)).toEqual(NAMES);
  expect(await run('elsewhere')).toMatchObject({ found: [], answer: 'called http://healer.test/heal' });
  await world.machine.gitHost.create('stray');
  const reports = await Promise.all([run('repositories'), run('repositories')]);
  expect(reports.map(({ found }) => found.length).sort()).toEqual([0, 1]);
  const [healing] = await healers.recent(ADMIN);
  expect(healing).toMatchObject({ actor: ADMIN.email, target: 'repository:stray', action: 'healer.heal', error: '' });
  const runs = (await world.machine.store.events(20)).filter(({ action }) => action === 'healer.run');
  expect(runs.map(({ target }) => target)).toContain('healer:elsewhere');
});
