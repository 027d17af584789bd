import { afterEach, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

let world: DomainWorld | null = null;
afterEach(async () => {
  await world?.dispose();
  world = null;
});

it('a unit that was killed for its memory and serves again breaks nothing, and is named for a day', async () => {
  const memoryBytes = 512 * 1024 ** 2;
  world = await startDomain({ unitLimits: { memoryBytes, cpuMillis: 0, processes: 0 } });
  const { store } = world.machine;
  await world.createApp('shop');
  await world.deploy('shop');
  const [unit] = await store.units('shop');
  const diedAgo = async (ms: number): Promise<readonly string[]> => {
    const at = new Date(Date.now() - ms).toISOString();
    const lastExit = { at, code: null, signal: 'SIGKILL', outOfMemory: true, lastLines: [] };
    await store.transact((tx) => tx.updateUnit(unit?.id ?? '', { exits: 2, lastExit }));
    const { well, notes } = (await world?.useCases.diagnoses.ofApp(ANN, 'shop')) ?? {};
    expect(well).toBe(true);
    return notes ?? [];
  };
  expect(await diedAgo(60_000)).toEqual([
    expect.stringMatching(
      /^web shop\/0 was killed: it used more memory than it may \(512 MiB\) at \S+, and serves again; it has died 2 times since \S+ Give it more: tancho app update shop --plan <plan>; or see what it printed: tancho app log shop --unit shop\/0$/,
    ),
  ]);
  expect(await diedAgo(25 * 3600_000)).toEqual([]);
});
