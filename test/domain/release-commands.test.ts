/** Commands that run once per new version, before anything of it starts. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { crashAtEveryStep } from '../support/crash-at-every-step.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';

const hooks = { release: ['print migrating $KEY'] };

describe('the release commands', () => {
  let world: DomainWorld;
  beforeEach(async () => {
    world = await startDomain();
    await world.createApp('shop');
  });
  afterEach(() => world.dispose());

  async function migrations(): Promise<string[]> {
    const entries = await world.machine.logStore.query({ app: 'shop', lines: 0, source: 'release' });
    return entries.map(({ message }) => message);
  }

  it('run for a deploy and a rollback, with their environment, and for no other change', async () => {
    const said: string[] = [];
    await world.setEnv('shop', { KEY: 'private-one' });
    await world.deploy('shop', { hooks }, { say: (line) => said.push(line) });
    const [at, started] = [said.indexOf('       migrating ***'), said.findIndex((line) => line.includes('is up'))];
    expect(at).toBeGreaterThan(0);
    expect(at).toBeLessThan(started);
    await world.restart('shop');
    await world.setEnv('shop', { KEY: 'private-two', OTHER: '2' });
    await world.useCases.scale.add(ANN, 'shop', { units: 1, process: 'web' }, () => {});
    expect(await migrations()).toEqual(['migrating ***']);
    await world.deploy('shop');
    await world.useCases.deploys.rollback(ANN, 'shop', 'v1', () => {});
    expect(await migrations()).toEqual(['migrating ***', 'migrating ***']);
    await expectSound(world);
  });

  it('fail the deploy, and nothing of it starts', async () => {
    await world.deploy('shop');
    let starts = 0;
    world.faults.on('provisioner.ensure', () => void starts++);
    const failing = world.deploy('shop', { hooks: { release: ['print no column; exit 4', 'print never'] } });
    await expect(failing).rejects.toMatchObject({
      details: { cause: 'release_command_failed', lastLines: ['no column'] },
      message: expect.stringContaining('exited with code 4') as string,
    });
    expect(starts).toBe(0);
    expect(await migrations()).toEqual(['no column']);
    await expectSound(world);
  });

  it('end when the deploy is cancelled', async () => {
    await world.deploy('shop');
    const stop = new AbortController();
    const say = (line: string): void => {
      if (line.includes('begun')) stop.abort();
    };
    const deploying = world.deploy('shop', { hooks: { release: ['print begun; stay'] } }, { say, signal: stop.signal });
    await expect(deploying).rejects.toMatchObject({ details: { cause: 'cancelled' } });
    await expectSound(world);
  });
});

describe('a deploy with release commands', () => {
  crashAtEveryStep({
    name: 'deploy',
    prepare: async (world, app) => {
      await world.createApp(app);
      await world.deploy(app, { hooks });
    },
    operation: (world, app) => world.deploy(app, { hooks }),
    check: async () => {},
  });
});
