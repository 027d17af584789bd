/** Variables that an app's files want it to have. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
});
afterEach(() => world.dispose());

const wanted = (value: string, when: 'first' | 'missing') => ({ name: 'KEY', value, isPublic: false, when });

async function values(): Promise<Record<string, string>> {
  const env = await world.machine.store.env('shop');
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

it('are set with the release that first serves, and stay what they are', async () => {
  const said: string[] = [];
  const variables = [
    wanted('one-secret', 'missing'),
    { name: 'PORT', value: '1', isPublic: true, when: 'first' as const },
  ];
  await world.deploy('shop', { variables, lines: ['one-secret'] }, { say: (line) => said.push(line) });
  expect(await values()).toEqual({ KEY: 'one-secret' });
  expect(said).toContain('-----> Variables set for the app: KEY');
  await world.deploy('shop', { variables: [wanted('another', 'missing')] });
  expect(await values()).toEqual({ KEY: 'one-secret' });
  await expectSound(world);
});

it('do not replace what people have set, and come back only where they are needed', async () => {
  await world.setEnv('shop', { KEY: 'mine' });
  await world.deploy('shop', { variables: [wanted('x', 'first')] });
  expect(await values()).toEqual({ KEY: 'mine' });
  await world.useCases.env.unset(ANN, 'shop', ['KEY'], { noRestart: false }, () => {});
  await world.deploy('shop', { variables: [wanted('x', 'first')] });
  expect(await values()).toEqual({});
  await world.deploy('shop', { variables: [wanted('needed', 'missing')] });
  expect(await values()).toEqual({ KEY: 'needed' });
});

it('of a deploy that fails are not set', async () => {
  const failing = world.deploy('shop', { variables: [wanted('x', 'first')], hooks: { release: ['exit 4'] } });
  await expect(failing).rejects.toMatchObject({ code: 'deploy.failed' });
  expect(await values()).toEqual({});
});
