/** What is private in an app's environment stays so, whoever prints it and wherever the print ends up. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PlatformError } from '../../src/domain/errors.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { until } from '../support/until.ts';

const CANARY = 'canary-in-a-private-value';

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
  await world.setEnv('shop', { SECRET: CANARY });
});
afterEach(() => world.dispose());

async function log(): Promise<string> {
  const entries = await world.useCases.logs.query(ANN, 'shop', { lines: 0 });
  return entries.map((entry) => entry.message).join('\n');
}

it('in the output of hooks', async () => {
  const said: string[] = [];
  const hooks = { restartBefore: ['print before $SECRET'], restartAfter: ['print after $SECRET'] };
  await world.deploy('shop', { hooks }, { say: (line) => said.push(line) });
  await world.useCases.apps.restart(ANN, 'shop', (line) => said.push(line));
  expect(said.join('\n')).toContain('before ***');
  expect(said.join('\n')).not.toContain(CANARY);
  expect(await log()).toMatch(/before \*\*\*[^]*after \*\*\*/);
  expect(await log()).not.toContain(CANARY);
});

it('in the last words of a hook and of a unit that do not come up', async () => {
  for (const recipe of [
    { hooks: { restartBefore: ['print $SECRET; exit 3'], restartAfter: [] } },
    { processes: { web: 'print $SECRET; exit 3' } },
  ]) {
    const error = await world.deploy('shop', recipe).catch((thrown: unknown) => thrown);
    if (!(error instanceof PlatformError)) throw new Error('it was deployed');
    expect(error.details['lastLines']).toEqual(['***']);
    expect(`${error.message} ${error.hint ?? ''}`).not.toContain(CANARY);
  }
});

it('in the last words of a unit that dies later', async () => {
  await world.deploy('shop', { processes: { web: 'serve', worker: 'print $SECRET; sleep 700; exit 3' } });
  const lastLines = async (): Promise<readonly string[]> =>
    (await world.machine.store.units('shop')).flatMap((unit) => unit.lastExit?.lastLines ?? []);
  await until(async () => (await lastLines()).length > 0, { what: 'the worker to die' });
  expect(await lastLines()).toEqual(['***']);
});

it('and a hook that never stops printing fills neither log nor memory', async () => {
  const said: string[] = [];
  const flood = Array.from({ length: 2_500 }, () => 'print x').join(';');
  await world.deploy(
    'shop',
    { hooks: { restartBefore: [flood], restartAfter: [] } },
    { say: (line) => said.push(line) },
  );
  expect(said.filter((line) => line.trim() === 'x').length).toBeLessThan(2_000);
  expect(said.join('\n')).toContain('the rest of the output is not shown');
});
