/** Units that have died and come back while no control was there. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { noteComeback } from '../../src/domain/comebacks.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
  await world.deploy('shop');
});
afterEach(() => world.dispose());

it('each of their deaths is recorded once, also by a control that follows one that was cut off after it', async () => {
  const { store } = world.machine;
  const exitAt = (at: string) => ({ at, code: 7, signal: null, outOfMemory: false });
  const [first, second] = [exitAt('2026-01-01T00:00:00.000Z'), exitAt('2026-01-01T00:01:00.000Z')];
  const [unit] = await store.units('shop');
  const noted: string[] = [];
  const provisioner = { comebackNoted: async (id: string) => void noted.push(id) };
  const note = async (exits: (typeof first)[], host: string): Promise<void> =>
    noteComeback({ store, journal: world.parts.journal, provisioner }, unit?.id ?? '', {
      ...{ id: unit?.id ?? '', exits, address: { host, port: 80 } },
    });
  await note([first], '10.0.0.1');
  await note([first], '10.0.0.1');
  expect(await store.units('shop')).toMatchObject([{ exits: 1, lastExit: { at: first.at } }]);
  await note([first, second], '10.0.0.2');
  expect(await store.units('shop')).toMatchObject([
    { exits: 2, lastExit: { at: second.at }, address: { host: '10.0.0.2' } },
  ]);
  expect(noted).toHaveLength(3);
  const lines = await world.useCases.logs.query(ANN, 'shop', { lines: 20 });
  expect(lines.filter(({ message }) => message.includes('while the platform was away'))).toHaveLength(2);
});
