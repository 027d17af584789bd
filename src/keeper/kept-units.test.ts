import { afterEach, expect, it } from 'vitest';
import { until } from '../../test/support/until.ts';
import { createMemoryProvisioner, MemoryMachine } from '../backends/provisioner/memory/memory-provisioner.ts';
import type { Provisioner, UnitSpec } from '../domain/units/provisioner.ts';
import { SILENT } from '../lib/logger.ts';
import { KeptUnits } from './kept-units.ts';

const machine = new MemoryMachine();
let kept: KeptUnits;
let provisioner: Provisioner;
afterEach(async () => {
  await kept.close();
  await provisioner.close();
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

/** The memory machine knows its units by their ids. */
const ADDRESS = { host: '127.0.0.1', port: 1 };
/** Long enough that a slow machine does not count as late. */
const CHECK = { periodMs: 100, calmPeriodMs: 100, timeoutMs: 60_000, failures: 2 };

/** As control has left them. */
async function run(...specs: UnitSpec[]): Promise<UnitSpec[]> {
  const before = createMemoryProvisioner(machine);
  for (const one of specs) await before.ensure(one);
  await before.close();
  return specs;
}

/** What the keeper reports of these units. */
async function keep(specs: readonly UnitSpec[]): Promise<string[]> {
  const reported: string[] = [];
  const specOf = async (id: string) => specs.find((one) => one.id === id) ?? null;
  const onDeath = async ({ id }: UnitSpec) => void reported.push(`${id} died`);
  const onReady = async ({ id }: UnitSpec, address: unknown) =>
    void reported.push(`${id} ${address === null ? 'runs' : 'serves'}`);
  provisioner = createMemoryProvisioner(machine);
  const addressOf = async (id: string) => (specs.find((one) => one.id === id)?.listens === true ? ADDRESS : null);
  kept = new KeptUnits({ provisioner, specOf, addressOf, onDeath, onReady, stopGraceMs: 0, logger: SILENT });
  await kept.start();
  return reported;
}

it('a unit that dies is taken out of the routes first, and is in them again when it serves', async () => {
  const reported = await keep(await run(spec('a', 'serve'), spec('b', 'serve')));
  await machine.kill('a');
  await until(() => reported.length === 2, { what: 'the unit to be back' });
  await machine.kill('a');
  await until(() => reported.length === 4, { what: 'the unit to be back once more' });
  expect(reported).toEqual(['a died', 'a serves', 'a died', 'a serves']);
});

it('one that had died before the keeper came is looked after, too', async () => {
  const units = await run(spec('a', 'serve'));
  await machine.kill('a');
  const reported = await keep(units);
  await until(() => reported.length === 2, { what: 'the unit to be back' });
  expect(reported).toEqual(['a died', 'a serves']);
});

it('the routes know nothing of what does not listen', async () => {
  const reported = await keep(await run(spec('a', 'stay')));
  await machine.kill('a');
  await until(() => reported.length > 0, { what: 'the unit to be back' });
  expect(reported).toEqual(['a runs']);
});

it('one that hangs is ended and started again, and leaves the routes before that', async () => {
  const reported = await keep(
    await run({ ...spec('a', 'serve'), liveness: { ...CHECK, kind: 'accept' } }, spec('b', 'serve')),
  );
  for (const id of ['a', 'b']) {
    const unit = machine.entries.get(id)?.unit;
    if (unit !== undefined) unit.isHung = true;
  }
  await until(() => reported.includes('a serves'), { what: 'the unit to be back' });
  expect(reported[0]).toBe('a died');
  expect(machine.entries.get('a')?.unit.isHung).toBe(false);
  // Nobody is to look at this one.
  expect(machine.entries.get('b')?.unit.isHung).toBe(true);
});

it('one that fails its command is, too', async () => {
  const check = { ...CHECK, kind: 'command', command: 'exit 4' } as const;
  const reported = await keep(await run({ ...spec('a', 'stay'), liveness: check }));
  await until(() => reported.includes('a runs'), { what: 'the unit to be back' });
});
