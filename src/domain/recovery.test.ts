import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../../test/support/domain-world.ts';
import { expectSound } from '../../test/support/invariants.ts';
import { commandSpec } from './units/unit-spec.ts';

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
  await world.deploy('shop');
});
afterEach(() => world.dispose());

describe('a start of the platform', () => {
  it('finds its units again and leaves them alone', async () => {
    const before = await world.machine.store.units('shop');
    world = await world.next();
    expect(world.recovered).toEqual({ adopted: 1, revived: 0, interrupted: 0 });
    await expectSound(world);
    expect(await world.machine.store.units('shop')).toEqual(before);
  });

  it('removes what nobody needs: units without a record, records without a rollout, slugs without a release', async () => {
    const { store, artifacts, units } = world.machine;
    const release = await store.release('shop', 1);
    const [unit] = await store.units('shop');
    if (release === null || unit === undefined) throw new Error('nothing was deployed');
    const stray = { ...commandSpec('aaaaaaaaaaaa', release, world.machine.settings.unitLimits), command: 'stay' };
    await world.parts.provisioner.ensure(stray);
    artifacts.kept.set('shop/unknown', { app: 'shop' });
    artifacts.kept.set('gone/unknown', { app: 'gone' });
    const leftover = { ...unit, id: 'bbbbbbbbbbbb', index: 7, rollout: 'cccccccccccc', state: 'error' as const };
    await store.transact((tx) => tx.insertUnit(leftover));
    world = await world.next();
    await expectSound(world);
    expect([...units.entries.values()].filter((entry) => entry.unit.exit === null)).toHaveLength(1);
  });

  it('serves while units of a rollout that it undoes take long to be ended', async () => {
    world.faults.arm({ call: 1, moment: 'before', only: 'provisioner.ready' });
    await Promise.race([world.deploy('shop'), world.faults.crashed]);
    let release = (): void => {};
    world.crash();
    world = await world.machine.start({
      prepare: (faults) => {
        ({ release } = faults.hold('provisioner.stop'));
      },
    });
    expect((await world.machine.store.unfinishedRollouts()).map(({ state }) => state)).toEqual(['starting']);
    expect(world.machine.table().routes[0]?.targets).toHaveLength(1);
    release();
    await expectSound(world);
    expect(await world.machine.store.unfinishedRollouts()).toEqual([]);
  });

  it('waits for no stray when it ends before it has removed them all', async () => {
    const release = await world.machine.store.release('shop', 1);
    if (release === null) throw new Error('nothing was deployed');
    for (const id of ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'])
      await world.parts.provisioner.ensure({
        ...commandSpec(id, release, world.machine.settings.unitLimits),
        command: 'stay',
      });
    const alive = (): number =>
      [...world.machine.units.entries.values()].filter(({ unit }) => unit.exit === null).length;
    let letGo = (): void => {};
    let reach = (): void => {};
    const reached = new Promise<void>((resolve) => (reach = resolve));
    world.crash();
    world = await world.machine.start({
      prepare: (faults) => {
        const held = faults.hold('provisioner.stop');
        letGo = held.release;
        void held.reached.then(reach);
      },
    });
    await reached;
    // The first of them hangs, and the second is never begun with.
    await world.leaveTidying();
    letGo();
    await world.settled();
    expect(alive()).toBe(2);
    world = await world.next();
    await expectSound(world);
    expect(alive()).toBe(1);
  });

  it('does not take for a leftover what is made while it tidies up', async () => {
    let release = (): void => {};
    let reach = (): void => {};
    const reached = new Promise<void>((resolve) => (reach = resolve));
    world.crash();
    world = await world.machine.start({
      prepare: (faults) => {
        const held = faults.hold('gitHost.exists');
        release = held.release;
        void held.reached.then(reach);
      },
    });
    await reached;
    await world.createApp('young');
    await world.deploy('young');
    await world.remove('shop');
    release();
    await expectSound(world);
    expect((await world.useCases.apps.list(ANN)).map((view) => view.app.name)).toEqual(['young']);
  });

  it('makes the repository of an app whose creation was cut off, and carries a removal on', async () => {
    await world.createApp('blog');
    await world.machine.gitHost.remove('shop');
    await world.machine.store.transact((tx) => tx.updateApp('blog', { removing: true }));
    world = await world.next();
    await expectSound(world);
    expect(await world.machine.gitHost.list()).toEqual(['shop']);
  });

  it('does not wait for a unit that takes its time to come back', async () => {
    const [unit] = await world.machine.store.units('shop');
    world.crash();
    await world.machine.units.kill(unit?.id ?? '');
    let release = (): void => {};
    world = await world.machine.start({
      prepare: (faults) => (release = faults.hold('provisioner.ready').release),
    });
    expect(world.machine.table().routes[0]?.targets).toEqual([]);
    release();
    await expectSound(world);
  });
});
