import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { processesOf } from '../../../../test/support/processes-of.ts';
import { until } from '../../../../test/support/until.ts';
import { KeeperWaiter } from './keeper-waiter.ts';

let directory: string;
let waiter: KeeperWaiter | null;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tancho-keeper-waiter-'));
  waiter = null;
});
afterEach(async () => {
  await waiter?.cancel();
  rmSync(directory, { recursive: true, force: true });
});

const open = async (): Promise<KeeperWaiter> =>
  (waiter = await KeeperWaiter.open({ stateDir: directory, runDir: directory }));
const waiting = async (): Promise<number[]> => (await processesOf(directory)).map(({ pid }) => pid);
const command = (): string[] => [process.execPath, join(directory, 'keeper.js'), '{}'];
/** As if an edge of this home ran. */
const runEdge = (): void => writeFileSync(join(directory, 'edge.pid'), `${process.pid}\n`);

it('has somebody wait, one in place of the other, and nobody once that is cancelled', async () => {
  const one = await open();
  expect(await waiting()).toEqual([]);
  for (let round = 0; round < 2; round += 1) {
    expect(await one.wait(command())).toBe(true);
    await until(async () => (await waiting()).length === 1, { what: 'one that waits' });
  }
  await one.cancel();
  await until(async () => (await waiting()).length === 0, { what: 'nobody' });
  expect(readdirSync(directory)).not.toContain('keeper.json');
});

it('has another one wait when somebody ends it', async () => {
  await (await open()).wait(command());
  const [first = 0] = await waiting();
  process.kill(first, 'SIGKILL');
  await until(async () => (await waiting()).some((pid) => pid !== first), { what: 'another one' });
});

it('has somebody wait from the start where an edge runs, for what the control before has said', async () => {
  await (await open()).wait(command());
  const kept = readFileSync(join(directory, 'keeper.json'), 'utf8');
  await waiter?.cancel();
  await until(async () => (await waiting()).length === 0, { what: 'nobody' });
  writeFileSync(join(directory, 'keeper.json'), kept);
  await open();
  expect(await waiting(), 'no edge runs').toEqual([]);
  runEdge();
  await open();
  expect(await waiting(), 'its program is gone').toEqual([]);
  writeFileSync(join(directory, 'keeper.js'), '');
  await open();
  expect(await waiting()).toHaveLength(1);
});
