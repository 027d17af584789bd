/** Processes that do not listen: what a deploy makes of those that end, and what is said of them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { until } from '../support/until.ts';

let world: DomainWorld;
let said: string[];
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
  said = [];
});
afterEach(() => world.dispose());

const say = (line: string): void => void said.push(line);

async function states(): Promise<string[]> {
  const { app, units } = await world.useCases.apps.info(ANN, 'shop');
  return [
    ...units.map(({ process, state }) => `${process} ${state}`),
    ...app.stoppedProcesses.map((name) => `no ${name}`),
  ];
}

it('one that fails does not keep the first release from serving; it is reported, tried again, and reported until it is well', async () => {
  const processes = { web: 'serve', worker: 'print no queue; exit 3' };
  await world.deploy('shop', { processes }, { say });
  expect(said.join('\n')).toMatch(/ !     The process.* ended with code 3/);
  expect(said.join('\n')).toContain('| no queue');
  await until(async () => (await world.machine.store.units('shop')).some(({ exits }) => exits > 2), {
    what: 'further attempts',
  });
  const { problems } = await world.useCases.apps.info(ANN, 'shop');
  expect(problems).toEqual([expect.stringMatching(/^worker shop\/1 .*exited with code 3.*no queue/)]);
  // A change that does not put it right yet is possible all the same.
  await world.setEnv('shop', { OTHER: '1' });
  await world.deploy('shop', { processes: { ...processes, worker: 'stay' } });
  expect((await world.useCases.apps.info(ANN, 'shop')).problems).toEqual([]);
  await expectSound(world);
});

it('one that fails fails the deploy of an app that served, however long the others take', async () => {
  await world.deploy('shop', { processes: { web: 'serve', worker: 'stay' } });
  for (const web of ['serve', 'sleep 40; serve', 'sleep 120; serve']) {
    const deploying = world.deploy('shop', { processes: { web, worker: 'print no queue; exit 3' } });
    await expect(deploying).rejects.toMatchObject({
      details: { cause: 'exited', lastLines: ['no queue'] },
      message: expect.stringContaining('code 3') as string,
    });
  }
  await expectSound(world);
});

it('one that ends after it was watched does not decide, however long the others take', async () => {
  await world.deploy('shop');
  const settings = { worker: { watchSeconds: 0 } };
  for (const web of ['serve', 'sleep 100; serve']) {
    await world.deploy('shop', { processes: { web, worker: 'sleep 30; exit 3' }, settings });
    await until(async () => (await world.machine.store.units('shop')).some(({ exits }) => exits > 1), {
      what: 'a second start of the worker',
    });
    await world.deploy('shop');
  }
  await expectSound(world);
});

it('an app of workers only fails with them', async () => {
  const deploying = world.deploy('shop', { processes: { worker: 'exit 3' } });
  await expect(deploying).rejects.toMatchObject({ details: { cause: 'exited' } });
  expect(await states()).toEqual([]);
});

it('one that ends with 0 is a task: it runs once per deploy, and is not kept running', async () => {
  const processes = { web: 'serve', seed: 'print seeding; exit 0' };
  await world.deploy('shop', { processes }, { say });
  expect(said.join('\n')).toContain('seed ended with code 0: a task');
  expect(await states()).toEqual(['web started', 'no seed']);
  await expectSound(world);
  await world.restart('shop');
  await world.setEnv('shop', { A: '1' });
  expect(await seedings()).toBe(1);
  await world.deploy('shop', { processes });
  expect(await seedings()).toBe(2);
  await world.useCases.startStop.start(ANN, 'shop', 'seed', say);
  expect(await seedings()).toBe(3);
  expect(await states()).toEqual(['web started', 'no seed']);
  await expectSound(world);
});

it('an app of nothing but tasks rests when they are done', async () => {
  await world.deploy('shop', { processes: { seed: 'print seeding; exit 0' } });
  expect(await states()).toEqual(['no seed'].slice(1));
  expect((await world.useCases.apps.info(ANN, 'shop')).state).toBe('stopped');
  expect(await seedings()).toBe(1);
  await expectSound(world);
});

async function seedings(): Promise<number> {
  await world.settled();
  const entries = await world.machine.logStore.query({ app: 'shop', lines: 0, source: 'seed' });
  return entries.filter(({ message }) => message === 'seeding').length;
}
