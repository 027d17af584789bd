/** Whoever loses a right loses it at once: also for what waits for its turn, and for what goes on. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRun } from '../../src/domain/apps/run.ts';
import { createShells } from '../../src/domain/apps/shells.ts';
import { createLogs } from '../../src/domain/logs/logs.ts';
import type { Caller, UserCaller } from '../../src/domain/caller.ts';
import { parseManifest } from '../../src/domain/services/manifest.ts';
import { bindingLease } from '../../src/domain/services/orphans.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

const BOB: UserCaller = { ...ANN, email: 'bob@example.com' };
const say = (): void => {};

let world: DomainWorld;
let stop: AbortController;

beforeEach(async () => {
  stop = new AbortController();
  world = await startDomain();
  const { email } = BOB;
  await world.machine.store.transact(async (tx) => {
    await tx.insertUser({ email, passwordHash: '', isAdmin: false, createdAt: '2024-01-01T00:00:00.000Z' });
    await tx.addMember('crew', email);
  });
  await world.createApp('shop');
  await world.deploy('shop');
});
afterEach(async () => {
  stop.abort();
  await world.dispose();
});

const leaveTeam = () => world.machine.store.transact((tx) => tx.removeMember('crew', BOB.email));
const append = (message: string) => world.parts.journal.note('shop', message, 'web');

async function follow(caller: Caller): Promise<{ seen: string[]; over: Promise<void> }> {
  const seen: string[] = [];
  const batches = await world.useCases.logs.follow(caller, 'shop', { lines: 1, source: 'web' }, stop.signal);
  const over = (async () => {
    for await (const batch of batches) seen.push(...batch.map(({ message }) => message));
  })();
  return { seen, over };
}

it.each([
  ['the team', leaveTeam],
  ['the account', () => world.machine.store.transact((tx) => tx.deleteUser(BOB.email))],
])('a change that waits is refused when its caller has lost %s', async (_, lose) => {
  const held = world.faults.hold('provisioner.ready');
  const restarting = world.restart('shop');
  await held.reached;
  const { useCases } = world;
  const waiting = [
    useCases.cnames.add(BOB, 'shop', ['www.example.com']),
    useCases.deploys.rollback(BOB, 'shop', 'v1', say),
    useCases.apps.remove(BOB, 'shop', say),
  ].map((work) => work.then(() => 'done').catch((error: { code: string }) => error.code));
  await lose();
  held.release();
  await restarting;
  for (const code of await Promise.all(waiting)) expect(code).toMatch(/^(?:access\.denied|auth\.required)$/);
  const { app } = await useCases.apps.info(ANN, 'shop');
  expect(app.cname).toEqual([]);
});

it('a change that waits does not reach an app that has come to belong to others', async () => {
  const held = world.faults.hold('provisioner.ready');
  const restarting = world.restart('shop').catch(() => 'gone');
  await held.reached;
  const waiting = world.useCases.cnames
    .add(BOB, 'shop', ['www.example.com'])
    .catch((error: { code: string }) => error.code);
  await world.machine.store.transact(async (tx) => {
    await tx.insertTeam({ name: 'others', createdAt: '', members: [ANN.email] });
    await tx.updateApp('shop', { teams: ['others'], teamOwner: 'others' });
  });
  held.release();
  await restarting;
  expect(await waiting).toBe('access.denied');
});

describe('of two that it is about', () => {
  const BOTH: UserCaller = { ...BOB, teams: ['crew', 'second'] };
  const leaveSecond = () => world.machine.store.transact((tx) => tx.removeMember('second', BOB.email));
  const outcomes = (...works: Promise<unknown>[]): Promise<unknown[]> =>
    Promise.all(works.map((work) => work.then(() => 'done').catch((error: { code: string }) => error.code)));

  beforeEach(async () => {
    await world.machine.store.transact((tx) =>
      tx.insertTeam({ name: 'second', createdAt: '', members: [ANN.email, BOB.email] }),
    );
  });

  it('a swap and a link that wait are refused when their caller has lost the right to the second app', async () => {
    await world.createApp('blog');
    await world.machine.store.transact((tx) => tx.updateApp('blog', { teams: ['second'], teamOwner: 'second' }));
    const held = world.faults.hold('provisioner.ready');
    const restarting = world.restart('shop');
    await held.reached;
    const { swap, links } = world.useCases;
    const waiting = outcomes(
      swap.swap(BOTH, 'shop', 'blog', { force: true, cnameOnly: false }),
      links.add(BOTH, 'shop', 'blog', say),
    );
    await leaveSecond();
    held.release();
    await restarting;
    expect(await waiting).toEqual(['access.denied', 'access.denied']);
  });

  async function instanceOfSecond(): Promise<string> {
    const { services, instances } = world.useCases;
    await services.create(ANN, parseManifest('id: db\npassword: s\nendpoint:\n  production: http://x\n'));
    const { id } = await instances.create(ANN, { name: 'one', service: 'db', owner: 'crew' });
    await world.machine.store.transact((tx) => tx.updateInstance(id, { teams: ['second'], teamOwner: 'second' }));
    return id;
  }
  const bound = () => world.machine.endpoint.instances.values().next().value?.bindings.size;

  it('a binding that waits is not asked for when its caller has lost the right to the instance', async () => {
    const lease = bindingLease(await instanceOfSecond(), 'shop');
    let asked = 0;
    world.machine.fault = () => {
      asked += 1;
      return 'none';
    };
    const turn = Promise.withResolvers<void>();
    const busy = world.parts.leases.hold(lease, { waitMs: 0, holder: 'test' }, () => turn.promise);
    const waiting = outcomes(world.useCases.bindings.bind(BOTH, 'one', 'shop', {}, say));
    await leaveSecond();
    turn.resolve();
    await busy;
    expect([await waiting, asked]).toEqual([['access.denied'], 0]);
  });

  it.each([
    ['the instance', leaveSecond],
    ['the app', leaveTeam],
  ])('a binding is undone when its caller has lost the right to %s meanwhile', async (_, lose) => {
    await instanceOfSecond();
    const held = world.faults.hold('provisioner.ready');
    const restarting = world.restart('shop');
    await held.reached;
    const waiting = outcomes(world.useCases.bindings.bind(BOTH, 'one', 'shop', {}, say));
    await expect.poll(bound).toBe(1);
    await lose();
    held.release();
    await restarting;
    expect(await waiting).toEqual(['access.denied']);
    expect([bound(), await world.machine.store.bindings({ app: 'shop' })]).toEqual([0, []]);
  });
});

it('a followed log ends before the first entry that its reader may not see', async () => {
  const { seen, over } = await follow(BOB);
  await append('one');
  await expect.poll(() => seen).toContain('one');
  await leaveTeam();
  await append('two');
  await over;
  expect(seen).not.toContain('two');
});

it('a log followed with a token ends with the token', async () => {
  const { store } = world.machine;
  const [createdAt, expiresAt] = ['2024-01-01T00:00:00.000Z', '9999-01-01T00:00:00.000Z'];
  const token = { tokenHash: 'ff', app: 'shop', by: ANN.email, createdAt, expiresAt };
  await store.transact((tx) => tx.insertAppToken(token));
  const { seen, over } = await follow({ kind: 'app', app: 'shop', by: '', tokenHash: 'ff', address: '' });
  await append('one');
  await expect.poll(() => seen).toContain('one');
  await store.transact((tx) => tx.deleteAppTokens('shop'));
  await append('two');
  await over;
  expect(seen).not.toContain('two');
});

it.each([
  ['the team', leaveTeam],
  ['the app', () => world.remove('shop')],
])('a followed log in which nothing happens ends with %s', async (_, lose) => {
  const { machine, parts } = world;
  const logs = createLogs({ ...parts, ...machine, recheckMs: 10 });
  const batches = await logs.follow(BOB, 'shop', { lines: 0, source: 'web' }, stop.signal);
  const over = (async () => {
    for await (const _batch of batches);
  })();
  await lose();
  await over;
});

it('an open shell ends, and says why', async () => {
  const { machine, parts } = world;
  const { store, settings, now } = machine;
  const shells = createShells({ ...parts, store, settings, now, recheckMs: 10 });
  const input = { unit: '', width: '', height: '', term: '', isTerminal: true, output: say, signal: stop.signal };
  const shell = await shells.open(BOB, 'shop', input);
  expect(shell.reason()).toBe('');
  await leaveTeam();
  expect(await shell.ended).toEqual({ code: null, signal: 'SIGKILL' });
  expect(shell.reason()).toContain('no access');
});

it('a command that runs ends, and none comes after it', async () => {
  const { machine, parts } = world;
  const { store, settings, now } = machine;
  const { run } = createRun({ ...parts, store, settings: { ...settings, runTimeoutMs: 60_000 }, now, recheckMs: 10 });
  const ran = run(BOB, 'shop', { command: 'sleep 600000', once: false, output: say, signal: stop.signal });
  ran.catch(() => {});
  await leaveTeam();
  await expect(ran).rejects.toMatchObject({ code: 'access.denied' });
});
