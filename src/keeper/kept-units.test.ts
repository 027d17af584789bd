import { afterEach, expect, it } from 'vitest';
import { until } from '../../test/support/until.ts';
import { createMemoryProvisioner, MemoryMachine } from '../backends/provisioner/memory/memory-provisioner.ts';
import type { UnitSpec } from '../domain/units/provisioner.ts';
import { SILENT } from '../lib/logger.ts';
import { KeptUnits } from './kept-units.ts';

const machine = new MemoryMachine();
let kept: KeptUnits;
afterEach(async () => {
  await kept.close();
  await machine.dispose();
});

const spec = (id: string, command: string): UnitSpec => ({
  id,
  app: 'shop',
  name: `shop/${id}`,
  process: command === 'serve' ? 'web' : 'worker',
  artifact: 'a1',
  command,
  env: {},
  listens: command === 'serve',
  limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
});

/** As control has left them. */
async function run(...specs: UnitSpec[]): Promise<UnitSpec[]> {
  const before = createMemoryProvisioner(machine);
  for (const one of specs) await before.ensure(one);
  await before.close();
  return specs;
}

/** What the keeper tells of these units. */
async function keep(specs: readonly UnitSpec[]): Promise<string[]> {
  const told: string[] = [];
  const specOf = async (id: string) => specs.find((one) => one.id === id) ?? null;
  const onDeath = async ({ id }: UnitSpec) => void told.push(`${id} died`);
  const onReady = async ({ id }: UnitSpec, address: unknown) =>
    void told.push(`${id} ${address === null ? 'runs' : 'serves'}`);
  const provisioner = createMemoryProvisioner(machine);
  kept = new KeptUnits({ provisioner, specOf, onDeath, onReady, logger: SILENT });
  await kept.start();
  return told;
}

it('a unit that dies is taken out of the routes first, and is in them again when it serves', async () => {
  const told = await keep(await run(spec('a', 'serve'), spec('b', 'serve')));
  await machine.kill('a');
  await until(() => told.length === 2, { what: 'the unit to be back' });
  await machine.kill('a');
  await until(() => told.length === 4, { what: 'the unit to be back once more' });
  expect(told).toEqual(['a died', 'a serves', 'a died', 'a serves']);
});

it('one that had died before the keeper came is looked after, too', async () => {
  const units = await run(spec('a', 'serve'));
  await machine.kill('a');
  const told = await keep(units);
  await until(() => told.length === 2, { what: 'the unit to be back' });
  expect(told).toEqual(['a died', 'a serves']);
});

it('the routes know nothing of what does not listen', async () => {
  const told = await keep(await run(spec('a', 'stay')));
  await machine.kill('a');
  await until(() => told.length > 0, { what: 'the unit to be back' });
  expect(told).toEqual(['a runs']);
});
