/** Units that die at any moment of a rollout: it fails and the old ones serve, or it is done and the dead ones come back. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isPlatformError } from '../../src/domain/errors.ts';
import { type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
  await world.deploy('shop');
});
afterEach(() => world.dispose());

async function unitIds(): Promise<string[]> {
  return (await world.machine.store.units('shop')).map((unit) => unit.id);
}

async function restart(): Promise<'done' | 'failed'> {
  try {
    await world.restart('shop');
    return 'done';
  } catch (error) {
    if (isPlatformError(error, 'unit.failed')) return 'failed';
    throw error;
  }
}

/** Kills `whose` units before the n-th call that has an effect, for every n. */
async function killAtEveryStep(whose: 'new' | 'old'): Promise<Set<string>> {
  const outcomes = new Set<string>();
  for (let n = 1; ; n++) {
    const old = new Set(await unitIds());
    let calls = 0;
    let victims: string[] = [];
    const onCall = async (): Promise<void> => {
      if (++calls !== n) return;
      victims = (await unitIds()).filter((id) => old.has(id) === (whose === 'old'));
      for (const id of victims) await world.machine.units.kill(id);
    };
    const undo = ['store.transact', 'router.apply', 'router.drained', 'provisioner.stop'].map((name) =>
      world.faults.on(name, onCall),
    );
    const outcome = await restart();
    if (victims.length > 0) outcomes.add(outcome);
    await world.settled();
    for (const one of undo) one();
    await expectSound(world);
    if (calls < n) return outcomes;
  }
}

it('the new ones', async () => {
  expect(await killAtEveryStep('new')).toEqual(new Set(['failed', 'done']));
});

it('the old ones', async () => {
  expect(await killAtEveryStep('old')).toEqual(new Set(['done']));
});

it('a unit that ends while the others still come up fails the deploy, with its last words', async () => {
  const processes = { web: 'sleep 150; serve', worker: 'print I can not; sleep 20; exit 3' };
  const settings = { worker: { watchSeconds: 60 } };
  const said: string[] = [];
  const deploying = world.deploy('shop', { processes, settings }, { say: (line) => said.push(line) });
  await expect(deploying).rejects.toMatchObject({ code: 'deploy.failed', details: { cause: 'exited' } });
  expect(said.join('\n')).toContain('| I can not');
  expect(said.join('\n')).toContain('Your previous version (release 1) is still serving.');
  await expectSound(world);
});
