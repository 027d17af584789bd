/** Releases of an app: which there were, and what differs between two of them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { UserCaller } from '../../src/domain/caller.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

const BOB: UserCaller = { ...ANN, email: 'bob@example.com', teams: ['others'] };

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
});
afterEach(() => world.dispose());

const compare = (from = '', to = '') => world.useCases.releases.compare(ANN, 'shop', { from, to });

it('are listed newest first, the one that serves marked, and compared with the one before unless others are named', async () => {
  await world.deploy('shop');
  await world.setEnv('shop', { GREETING: 'hello' });
  await world.setEnv('shop', { GREETING: 'hello', MORE: 'yes' });
  const list = await world.useCases.releases.list(ANN, 'shop');
  expect(list.map(({ release, isCurrent }) => [release.number, release.reason, isCurrent])).toEqual([
    [3, 'env', true],
    [2, 'env', false],
    [1, 'deploy', false],
  ]);
  const names = async (from?: string, to?: string) =>
    (await compare(from, to)).changes.map(({ name, kind }) => `${kind} ${name}`);
  expect(await names()).toEqual(['added MORE']);
  expect(await names('v1', '')).toEqual(['added GREETING', 'added MORE']);
  expect(await names('3', '1')).toEqual(['removed GREETING', 'removed MORE']);
  expect(await names('', 'v2')).toEqual(['added GREETING']);
});

it('are not there before the first deploy, or under numbers that there never were', async () => {
  expect(await world.useCases.releases.list(ANN, 'shop')).toEqual([]);
  await expect(compare()).rejects.toMatchObject({ code: 'app.not_deployed' });
  await world.deploy('shop');
  await expect(compare('', '1')).rejects.toMatchObject({ code: 'release.not_found' });
  await expect(compare('v7', '1')).rejects.toMatchObject({ code: 'release.not_found' });
  await expect(compare('first', '1')).rejects.toMatchObject({ code: 'input.invalid' });
});

it('are for the teams of the app', async () => {
  await world.deploy('shop');
  await expect(world.useCases.releases.list(BOB, 'shop')).rejects.toMatchObject({ code: 'access.denied' });
  await expect(world.useCases.releases.compare(BOB, 'shop', { from: '', to: '' })).rejects.toMatchObject({
    code: 'access.denied',
  });
});
