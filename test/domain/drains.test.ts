/** Who may send the lines of an app elsewhere, what is shown of it, and that it ends with the app. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { UserCaller } from '../../src/domain/caller.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

const EVE: UserCaller = { ...ANN, email: 'eve@example.com', teams: ['other'] };
const ADMIN: UserCaller = { ...ANN, email: 'admin@example.com', isAdmin: true, teams: [] };
const TARGET = { url: 'https://logs.example.com/in', format: '', headers: { authorization: 'Bearer secret-token' } };

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.machine.store.transact((tx) =>
    tx.insertUser({ email: ADMIN.email, passwordHash: '', isAdmin: true, createdAt: '' }),
  );
  await world.createApp('shop');
});
afterEach(() => world.dispose());

const add = (by = ANN, app = 'shop', target = TARGET) => world.useCases.drains.add(by, app, target);

it('are added and seen by the teams of the app, those of all apps by admins', async () => {
  const { drain } = await add();
  const all = await add(ADMIN, '');
  await expect(add(EVE)).rejects.toMatchObject({ code: 'access.denied' });
  await expect(add(ANN, '')).rejects.toMatchObject({ code: 'access.denied' });
  await expect(world.useCases.drains.info(EVE, drain.id)).rejects.toMatchObject({ code: 'access.denied' });
  const ids = async (by: UserCaller): Promise<string[]> =>
    (await world.useCases.drains.list(by, '')).map((view) => view.drain.id);
  expect(await ids(ANN)).toEqual([drain.id]);
  expect(await ids(EVE)).toEqual([]);
  expect(await ids(ADMIN)).toEqual([all.drain.id, drain.id]);
  for (const change of ['update', 'remove', 'test'] as const) {
    const attempt = world.useCases.drains[change](EVE, drain.id, { format: 'loki' });
    await expect(attempt, change).rejects.toMatchObject({ code: 'access.denied' });
  }
});

it('headers go to the receiver that they were given for, and to nobody else', async () => {
  const { drain } = await add();
  const { update } = world.useCases.drains;
  const elsewhere = { url: 'https://elsewhere.example.com/in' };
  await expect(update(ANN, drain.id, elsewhere)).rejects.toMatchObject({ code: 'drain.invalid' });
  expect((await update(ANN, drain.id, { url: 'https://logs.example.com/other', format: 'loki' })).drain.target).toEqual(
    {
      format: 'loki',
      url: 'https://logs.example.com/other',
      headers: { authorization: 'Bearer secret-token' },
    },
  );
  expect((await update(ANN, drain.id, { url: 'https://logs.example.com/third' })).drain.target.format).toBe('loki');
  for (const url of ['http://logs.example.com/in', 'https://logs.example.com:8443/in', 'syslog://logs.example.com']) {
    await expect(update(ANN, drain.id, { url }), url).rejects.toMatchObject({ code: 'drain.invalid' });
  }
  expect((await update(ANN, drain.id, { ...elsewhere, headers: {} })).drain.target.headers).toEqual({});
});

it('are tested with one line, and what they do is in the record without their secrets', async () => {
  const { drain } = await add();
  expect(await world.useCases.drains.test(ANN, drain.id)).toEqual({ isDelivered: true, answer: 'taken' });
  const events = await world.useCases.events.list(ANN);
  expect(events.map(({ action }) => action)).toEqual(expect.arrayContaining(['drain.add', 'drain.test']));
  expect(JSON.stringify(events)).not.toMatch(/secret-token|\/in/);
});

it('there are few of them, and they go with their app', async () => {
  for (let count = 0; count < 5; count += 1) await add();
  await expect(add()).rejects.toMatchObject({ code: 'quota.exceeded' });
  const kept = await add(ADMIN, '');
  await world.remove('shop');
  await world.createApp('shop');
  expect(await world.useCases.drains.list(ANN, 'shop')).toEqual([]);
  expect(await world.machine.logStore.drainIds()).toEqual([kept.drain.id]);
});

it('that are removed are unknown afterwards', async () => {
  const { drain } = await add();
  await world.useCases.drains.remove(ANN, drain.id);
  await expect(world.useCases.drains.info(ANN, drain.id)).rejects.toMatchObject({ code: 'drain.not_found' });
  expect(await world.machine.logStore.drainIds()).toEqual([]);
});

it('that fail are said by the diagnosis of their app', async () => {
  const { drain } = await add();
  await add(ADMIN, '');
  await world.machine.logStore.drainFailed(drain.id, { error: 'The receiver answered 503.', at: drain.createdAt });
  const { notes } = await world.useCases.diagnoses.ofApp(ANN, 'shop');
  expect(notes).toEqual([`Its drain ${drain.id} to https://logs.example.com/… fails: The receiver answered 503.`]);
});
