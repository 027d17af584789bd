import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../../../test/support/domain-world.ts';
import { expectSound } from '../../../test/support/invariants.ts';
import type { RunRequest } from './run.ts';

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
});
afterEach(() => world.dispose());

it('a list reads the units of the apps that are in it, and no others', async () => {
  await world.createApp('shop');
  await world.deploy('shop');
  const asked: unknown[] = [];
  world.faults.on('store.unitsByApp', ([teams]) => void asked.push(teams));
  expect((await world.useCases.apps.list(ANN)).map(({ units }) => units.length)).toEqual([1]);
  expect(asked).toEqual([ANN.teams]);
});

it('a list has the same view of an app until something of it is another', async () => {
  for (const name of ['blog', 'shop']) await world.createApp(name);
  await world.deploy('shop');
  const before = await world.useCases.apps.list(ANN);
  expect((await world.useCases.apps.list(ANN)).map((view, at) => view === before[at])).toEqual([true, true]);
  const [unit] = before[1]?.units ?? [];
  await world.machine.store.transact((tx) => tx.updateUnit(unit?.id ?? '', { state: 'error', address: null }));
  const after = await world.useCases.apps.list(ANN);
  expect(after.map((view, at) => view === before[at])).toEqual([true, false]);
  expect(after[1]?.state).toBe('dead');
});

describe('creating an app', () => {
  it('that fails half-way leaves nothing, so the name can be used', async () => {
    const undo = world.faults.on('gitHost.create', () => Promise.reject(new Error('the disk is away')));
    await expect(world.createApp('shop')).rejects.toThrow('the disk is away');
    undo();
    expect(await world.machine.store.app('shop')).toBeNull();
    await world.createApp('shop');
    await expectSound(world);
  });
});

describe('what an app is to be for, taken away while it is created or changed', () => {
  const NOW = '2026-01-01T00:00:00.000Z';
  const ROW = { name: 'odd', definition: 'x', isDisabled: false, createdAt: NOW };

  /** Once they have been looked at, and before the transaction. */
  function takenAway(): void {
    const undo = world.faults.on('store.lease', async () => {
      undo();
      await world.machine.store.transact(async (tx) => {
        await tx.deletePlatform('odd');
        await tx.deletePool('odd');
      });
    });
  }

  beforeEach(() =>
    world.machine.store.transact(async (tx) => {
      await tx.putPlatform(ROW);
      await tx.insertPool({ name: 'odd', isPublic: true, teams: [], placement: null, createdAt: NOW });
    }),
  );

  it.each([
    [{ platform: 'odd' }, 'platform.not_found'],
    [{ platform: 'any', pool: 'odd' }, 'pool.not_found'],
  ])('is missed in time: %j', async (what, code) => {
    takenAway();
    await expect(world.useCases.apps.create(ANN, { name: 'shop', ...what })).rejects.toMatchObject({ code });
    expect(await world.machine.store.app('shop')).toBeNull();
  });

  it('is missed in time by a change, too', async () => {
    await world.createApp('shop');
    takenAway();
    await expect(world.useCases.appChanges.change(ANN, 'shop', { platform: 'odd' })).rejects.toMatchObject({
      code: 'platform.not_found',
    });
    expect((await world.machine.store.app('shop'))?.platform).not.toBe('odd');
  });
});

describe('removing an app', () => {
  it('that failed half-way can be repeated', async () => {
    await world.createApp('shop');
    await world.deploy('shop');
    const undo = world.faults.on('gitHost.remove', () => Promise.reject(new Error('the disk is away')));
    await expect(world.remove('shop')).rejects.toThrow('the disk is away');
    await expect(world.useCases.apps.info(ANN, 'shop')).rejects.toMatchObject({ code: 'app.not_found' });
    undo();
    await world.remove('shop');
    expect(await world.machine.store.app('shop')).toBeNull();
    await expectSound(world);
    await expect(world.remove('shop')).rejects.toMatchObject({ code: 'app.not_found' });
  });

  it('is not undone by those who waited for their turn', async () => {
    await world.createApp('shop');
    await world.deploy('shop');
    const removing = world.remove('shop');
    const waiting = [
      world.deploy('shop'),
      world.setEnv('shop', { A: '1' }),
      world.restart('shop'),
      world.remove('shop'),
    ];
    const codes = (await Promise.allSettled(waiting)).map((one) =>
      one.status === 'rejected' ? (one.reason as { code: string }).code : 'done',
    );
    await removing;
    // The deploy had begun, for it waits for nobody; the removal has cancelled it.
    expect(codes).toEqual(['deploy.failed', ...Array<string>(3).fill('app.not_found')]);
    await expectSound(world);
    expect(await world.machine.logStore.query({ app: 'shop', lines: 0 })).toEqual([]);
  });
});

describe('a restart', () => {
  it('brings the variables that were to wait for it, and is a release of the same code then', async () => {
    await world.createApp('shop');
    await world.deploy('shop');
    await world.setEnv('shop', { COLOR: 'blue' }, { noRestart: true });
    const [before] = await world.machine.store.units('shop');
    expect(world.machine.units.entries.get(before?.id ?? '')?.spec.env).toEqual({});
    await world.restart('shop');
    await expectSound(world);
    const [release, ...others] = await world.machine.store.releases('shop', 10);
    expect(release).toMatchObject({ number: 2, reason: 'env', env: [{ name: 'COLOR', value: 'blue' }] });
    expect(others).toHaveLength(1);
    await world.restart('shop');
    expect(await world.machine.store.releases('shop', 10)).toHaveLength(2);
  });

  it('that fails leaves them waiting', async () => {
    await world.createApp('shop');
    await world.deploy('shop');
    await world.setEnv('shop', { COLOR: 'blue' }, { noRestart: true });
    const undo = world.faults.on('provisioner.ensure', () => Promise.reject(new Error('the disk is away')));
    await expect(world.restart('shop')).rejects.toThrow('the disk is away');
    undo();
    expect(await world.machine.store.releases('shop', 10)).toHaveLength(1);
    await world.restart('shop');
    await expectSound(world);
    expect((await world.machine.store.release('shop', 2))?.env).toMatchObject([{ name: 'COLOR' }]);
  });
});

describe('running a command', () => {
  async function run(command: string, signal = new AbortController().signal): Promise<number> {
    const request: RunRequest = { command, once: true, output: () => {}, signal };
    return world.useCases.run.run(ANN, 'shop', request);
  }

  it('answers its exit code, or that it was ended', async () => {
    await world.createApp('shop');
    await expect(run('exit 0')).rejects.toMatchObject({ code: 'app.not_deployed' });
    await world.deploy('shop');
    expect(await run('exit 4')).toBe(4);
    await expect(run('die SIGKILL')).rejects.toMatchObject({ code: 'run.failed' });
    const leaving = AbortSignal.timeout(20);
    await expect(run('stay', leaving)).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('ends it after its time', async () => {
    await world.dispose();
    world = await startDomain({ runTimeoutMs: 30 });
    await world.createApp('shop');
    await world.deploy('shop');
    await expect(run('stay')).rejects.toMatchObject({ code: 'run.failed' });
  });
});
