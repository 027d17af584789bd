/** The audit trail as a log that nobody changes unnoticed: every event is in it, what it changed, and what retention leaves can still be proven. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { forgetsOf } from '../../src/cli/events/audit-log.ts';
import type { UserCaller } from '../../src/domain/caller.ts';
import { createRetention } from '../../src/domain/retention.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { LogVerifier, type Verdict } from '../../src/lib/transparency-log/verify.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

const ADMIN: UserCaller = { ...ANN, email: 'admin@example.com', isAdmin: true, teams: [] };

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain({
    retention: { eventDays: 30, events: 10, deployLogsPerApp: 2, deploysPerApp: 9, unusedDays: 30, toolBytes: 0 },
  });
  await world.createApp('shop');
});
afterEach(() => world.dispose());

/** As `tancho event verify` does it, through the use case. */
async function verdict(kept: string | null = null): Promise<Verdict> {
  const verifier = new LogVerifier(kept, forgetsOf);
  for (let from = 0; ;) {
    const { rows, checkpoints, head, key } = await world.useCases.events.log(ADMIN, from, 3);
    for (const row of rows) {
      verifier.add(row);
      from += 1;
      for (const { size, note } of checkpoints) if (size === from) verifier.checkpoint(note);
    }
    if (rows.length === 0 || from >= head.size) return verifier.verdict({ checkpoint: head.note, key });
  }
}
const newest = async (): Promise<string> => (await world.useCases.events.log(ADMIN, 0, 0)).head.note;
const logged = async () =>
  (await world.machine.store.auditRows(0, 1_000)).map(
    ({ content }) => JSON.parse(content ?? 'null') as Record<string, unknown>,
  );

it('has every event, of whatever door or worker, in the order in which they were recorded', async () => {
  await world.parts.auditLog.sequence();
  await world.deploy('shop');
  await world.setEnv('shop', { A: 'b' });
  const { problem, rows } = await verdict();
  expect([problem, rows]).toEqual([null, 3]);
  expect((await logged()).map(({ phase, action }) => `${String(phase)} ${String(action)}`)).toEqual([
    'whole app.create',
    'whole app.push',
    'whole env.set',
  ]);
  await expect(world.useCases.events.log(ANN, 0, 1)).rejects.toMatchObject({ code: 'access.denied' });
});

it('says that an action began before it says how it ended, also across a crash', async () => {
  const undo = world.faults.hold('builder.build');
  void world.deploy('shop');
  await undo.reached;
  await world.parts.auditLog.sequence();
  world = await world.next();
  await world.deploy('shop');
  expect((await verdict()).problem).toBeNull();
  // The first one has no end: nobody lived to see it.
  expect((await logged()).map(({ phase, action }) => `${String(phase)} ${String(action)}`)).toEqual([
    'whole app.create',
    'begin app.push',
    'whole app.push',
  ]);
});

it('finds what somebody changes in the database', async () => {
  await world.setEnv('shop', { A: 'b' });
  const kept = await newest();
  const [, target] = await world.machine.store.auditRows(0, 10);
  expect(target?.phase).toBe('whole');
  const event = (await world.machine.store.events(1))[0];
  if (event === undefined) throw new Error('there is none');
  // Whoever adds a row in the name of another makes no row of the log: it comes after all that there is.
  await world.machine.store.transact((tx) => tx.insertEvent({ ...event, id: 'made-up', actor: 'eve@example.com' }));
  expect((await verdict(kept)).problem).toBeNull();
  expect((await logged()).at(-1)).toMatchObject({ actor: 'eve@example.com' });
  // An end that comes later than the one that is recorded changes nothing.
  const end = { endedAt: '2030-01-01T00:00:00.000Z', error: 'app.busy', deploy: '', changes: [] };
  await world.machine.store.transact((tx) => tx.endEvent(event.id, end));
  expect((await verdict(kept)).problem).toBeNull();
  // One that goes without being forgotten is missed.
  await world.machine.store.transact((tx) => tx.deleteOldEvents({ before: '', keep: 1, batch: 1 }));
  expect((await verdict(kept)).problem).toMatch(/^The content of row 0 was removed/);
});

it('is proven as before when retention has removed what it says of old events', async () => {
  for (let count = 0; count < 15; count += 1) await world.setEnv('shop', { A: String(count) });
  const kept = await newest();
  const { store, artifacts, imageRegistry, builder, settings, now } = world.machine;
  const { leases, order, auditLog } = world.parts;
  const deps = { store, artifacts, imageRegistry, builder, settings, now, leases, order, auditLog, logger: SILENT };
  await createRetention(deps).run(new AbortController().signal);
  expect(await store.events(100)).toHaveLength(11);
  const first = await verdict(kept);
  expect([first.problem, first.forgotten, first.rows]).toEqual([null, 6, 17]);
  world.machine.pass(31 * 86_400_000);
  await createRetention(deps).run(new AbortController().signal);
  const second = await verdict(kept);
  expect([second.problem, second.forgotten, second.rows]).toEqual([null, 17, 18]);
});

it('has with each event who it was known by, what it changed and its deploy, without private values', async () => {
  const caller: UserCaller = { ...ANN, via: 'api-key', tokenHash: 'abcdef0123456789abcdef' };
  const { tokenHash: keyHash, email } = caller;
  await world.machine.store.transact((tx) => tx.putApiKey({ email, keyHash, key: 'k', createdAt: '' }));
  const vars = [
    { name: 'OPEN', value: 'seen', public: true },
    { name: 'SECRET', value: 'topsecret', public: false },
  ];
  await world.useCases.env.set(caller, 'shop', vars, { noRestart: true }, () => undefined);
  await world.useCases.env.set(
    caller,
    'shop',
    [{ name: 'SECRET', value: 'other', public: false }],
    { noRestart: true },
    () => undefined,
  );
  const { id } = await world.deploy('shop');
  const [deploy, second, first] = await world.machine.store.events(3);
  expect(first).toMatchObject({
    token: 'api-key abcdef0123456789',
    changes: [
      { field: 'env.OPEN', before: null, after: 'seen' },
      { field: 'env.SECRET', before: null, after: '(private)' },
    ],
  });
  expect(second?.changes).toEqual([{ field: 'env.SECRET', before: '(private)', after: '(private)' }]);
  expect(deploy).toMatchObject({ deploy: id, token: 'ssh-key' });
  expect(deploy?.changes).toContainEqual({ field: 'release', before: 'null', after: '1' });
  expect(JSON.stringify(await world.machine.store.events(100))).not.toMatch(/topsecret|other"/);
});

it('of a team and an app that goes, too', async () => {
  const createdAt = new Date().toISOString();
  await world.machine.store.transact((tx) =>
    tx.insertUser({ email: 'eve@example.com', passwordHash: '', isAdmin: false, createdAt }),
  );
  await world.useCases.teams.addMember(ANN, 'crew', 'eve@example.com');
  const changesOf = async (action: string) => (await world.machine.store.events(1, { action }))[0]?.changes;
  expect(await changesOf('team.member_add')).toEqual([
    { field: 'members', before: '["ann@example.com"]', after: '["ann@example.com","eve@example.com"]' },
  ]);
  await world.remove('shop');
  expect(await changesOf('app.remove')).toContainEqual({ field: 'owner', before: ANN.email, after: null });
});
