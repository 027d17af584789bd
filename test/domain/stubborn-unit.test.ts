/** A unit that cannot be ended must not keep the whole platform from starting. */
import { expect, it } from 'vitest';
import { randomHex } from '../../src/lib/ids.ts';
import { SurvivesKill } from '../../src/lib/survives-kill.ts';
import { startDomain } from '../support/domain-world.ts';

/** Stands for one that hangs in the kernel. */
const SURVIVES = new SurvivesKill('processes survive');

it('the platform starts although what is left of a rollout cannot be taken away', async () => {
  const world = await startDomain();
  const { machine } = world;
  try {
    await world.createApp('shop');
    await world.createApp('other');
    await world.deploy('shop');
    await world.deploy('other');
    const [unit] = await machine.store.units('shop');
    if (unit === undefined) throw new Error('no unit');
    const left = { ...unit, id: randomHex(12), index: 7, rollout: randomHex(12), state: 'starting' as const };
    const at = new Date().toISOString();
    await machine.store.transact(async (tx) => {
      const times = { startedAt: at, finishedAt: null, failuresBefore: 0, failedRequests: null };
      await tx.insertRollout({
        ...{ id: left.rollout, app: 'shop', release: left.release, reason: 'restart', by: 'ann' },
        ...{ state: 'starting', cause: null, ...times },
      });
      await tx.insertUnit(left);
    });
    const whole = machine.provisioner.bind(machine);
    Object.assign(machine, {
      provisioner: () => {
        const provisioner = whole();
        const stop = provisioner.stop.bind(provisioner);
        provisioner.stop = async (id, graceMs) => {
          if (id === left.id) throw SURVIVES;
          await stop(id, graceMs);
        };
        return provisioner;
      },
    });
    const next = await world.next();
    expect(next.complaints.join('\n')).toContain('processes survive');
    expect(machine.table().routes.map(({ app, targets }) => [app, targets.length])).toEqual([
      ['other', 1],
      ['shop', 1],
    ]);
    // Nothing waits for it: what it was part of is undone, the app can be changed, and the healer of strays knows of it.
    expect(await machine.store.unfinishedRollouts()).toEqual([]);
    await next.restart('shop');
    expect(await machine.store.unit(left.id)).toBeNull();
  } finally {
    await world.dispose();
  }
});
