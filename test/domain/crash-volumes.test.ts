/** A crash at any moment of a change of a volume: it is wholly there or wholly absent, and what it holds is never lost half-way. */
import { expect } from 'vitest';
import { crashAtEveryStep } from '../support/crash-at-every-step.ts';
import { ANN, type DomainWorld } from '../support/domain-world.ts';
import { until } from '../support/until.ts';

const say = (): void => {};

async function withVolume(world: DomainWorld, app: string): Promise<void> {
  await world.createApp(app);
  await world.useCases.volumes.create(ANN, app, { name: 'data', isSingle: true });
  await world.deploy(app);
}

async function mounted(world: DomainWorld, app: string): Promise<void> {
  await withVolume(world, app);
  await world.useCases.volumes.mount(ANN, app, 'data', { path: '/data' }, say);
}

/** The paths at which the units that serve have it. */
async function pathsOf(world: DomainWorld, app: string): Promise<string[]> {
  const units = await world.machine.store.units(app);
  return units.flatMap(({ id }) => world.machine.units.entries.get(id)?.spec.volumes?.map(({ path }) => path) ?? []);
}

crashAtEveryStep({
  name: 'mounting a volume',
  prepare: withVolume,
  operation: (world, app, run) => world.useCases.volumes.mount(ANN, app, 'data', { path: `/data-${run}` }, say),
  async check(world, app, { acknowledged, run }) {
    const set = (await world.machine.store.app(app))?.settings.mounts['data']?.path;
    expect(await pathsOf(world, app)).toEqual(set === undefined ? [] : [set]);
    if (acknowledged) expect(set).toBe(`/data-${run}`);
  },
});

crashAtEveryStep({
  name: 'a restart with one writer',
  prepare: mounted,
  operation: (world, app) => world.restart(app),
  async check(world, app, { acknowledged, before }) {
    const now = await world.machine.store.app(app);
    expect(await pathsOf(world, app)).toEqual(['/data']);
    if (acknowledged) expect(now?.rollout).not.toBe(before?.rollout);
  },
});

crashAtEveryStep({
  name: 'making a volume',
  isFresh: true,
  prepare: (world, app) => world.createApp(app),
  operation: (world, app) => world.useCases.volumes.create(ANN, app, { name: 'data' }),
  async check(world, app, { acknowledged }) {
    const [volume] = await world.machine.store.volumes(app);
    if (volume !== undefined) expect(world.machine.volumes.sizes.has(`${app}/data`)).toBe(true);
    if (acknowledged) expect(volume?.state).toBe('ready');
    if (volume === undefined) await world.useCases.volumes.create(ANN, app, { name: 'data' });
  },
});

crashAtEveryStep({
  name: 'removing a volume',
  isFresh: true,
  prepare: withVolume,
  operation: (world, app) => world.useCases.volumes.remove(ANN, app, 'data'),
  async check(world, app, { acknowledged }) {
    const { store, volumes } = world.machine;
    const isThere = async (): Promise<boolean> => (await store.volumes(app)).length > 0;
    const begun = (await store.volumes(app))[0]?.state !== 'ready';
    if (acknowledged) expect(begun).toBe(true);
    if (begun) await until(async () => !(await isThere()), { what: 'the end of the removal' });
    expect(volumes.sizes.has(`${app}/data`)).toBe(await isThere());
  },
});
