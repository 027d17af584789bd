/** Logins at registries: whose they are, who sees them, and which of them pulls and builds of an app get. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PLATFORM, type UserCaller } from '../../src/domain/caller.ts';
import { parseImageName } from '../../src/domain/deploys/image-name.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

const STRANGER: UserCaller = { ...ANN, email: 'eve@example.com', teams: [] };
const HOST = 'registry.example.com';

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
});
afterEach(() => world.dispose());

const registries = () => world.useCases.registries;
const mine = (host = HOST) => registries().login(ANN, { host, team: 'crew', user: 'robot', password: 'canary-1' });
const everybodys = () => registries().login(PLATFORM, { host: HOST, team: '', user: 'all', password: 'canary-2' });

it('are kept by members for their team and by admins for all, shown to these, and never with a password', async () => {
  await mine();
  await everybodys();
  expect((await registries().list(ANN)).map(({ team, user }) => [team, user])).toEqual([
    ['', 'all'],
    ['crew', 'robot'],
  ]);
  expect((await registries().list(STRANGER)).map(({ team }) => team)).toEqual(['']);
  expect(JSON.stringify(await registries().list(PLATFORM))).not.toContain('canary');
  const events = await world.useCases.events.list(PLATFORM, {});
  expect(events.filter(({ action }) => action === 'registry.login')).toHaveLength(2);
  expect(JSON.stringify(events)).not.toContain('canary');
  const refused = { host: HOST, team: 'crew', user: 'x', password: 'y' };
  await expect(registries().login(STRANGER, refused)).rejects.toMatchObject({ code: 'access.denied' });
  await expect(registries().login(ANN, { ...refused, team: '' })).rejects.toMatchObject({ code: 'access.denied' });
  await expect(registries().login(ANN, { ...refused, team: 'none' })).rejects.toMatchObject({ code: 'team.not_found' });
});

it('of the team that owns an app come before those of all, in its builds and pulls; others get none of them', async () => {
  await everybodys();
  await mine();
  await world.deploy('shop');
  const given = world.machine.builder.lastRequest?.registryLogins;
  expect([...(given ?? [])]).toEqual([[HOST, { user: 'robot', password: 'canary-1' }]]);
  const asked: unknown[] = [];
  world.faults.on('imageSource.pull', ([request]) => void asked.push((request as { logins: unknown }).logins));
  await registries().logout(ANN, HOST, 'crew');
  const image = parseImageName(`${HOST}/app:1`);
  const pulling = world.useCases.deploys.deploy(ANN, 'shop', { image, commit: '', origin: 'image' }, () => {}, NEVER);
  await pulling.catch(() => undefined);
  expect(asked).toEqual([new Map([[HOST, { user: 'all', password: 'canary-2' }]])]);
});

it.each(['', 'a b', 'https://x.example.com', 'x.example.com/team', 'user@x.example.com'])(
  'has no host %j',
  async (host) => {
    await expect(mine(host)).rejects.toMatchObject({ code: 'registry.invalid' });
  },
);

it('are forgotten one by one, and with their team', async () => {
  await mine();
  await registries().logout(ANN, HOST, 'crew');
  await expect(registries().logout(ANN, HOST, 'crew')).rejects.toMatchObject({ code: 'registry.not_found' });
  await mine();
  await world.remove('shop');
  await world.useCases.teams.remove(ANN, 'crew');
  expect(await world.machine.store.registryLogins()).toEqual([]);
});

const NEVER = new AbortController().signal;
