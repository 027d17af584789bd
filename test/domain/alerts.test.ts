/** People are told when something begins to be wrong and when that is over: once each, whatever fails in between. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AlertWatch } from '../../src/domain/alerts/alert-watch.ts';
import type { UserCaller } from '../../src/domain/caller.ts';
import type { Mail } from '../../src/domain/users/mailer.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

const ADMIN: UserCaller = { ...ANN, email: 'admin@example.com', isAdmin: true, teams: [] };
const OPS = 'ops@example.com';
const MINUTE_MS = 60_000;

let world: DomainWorld;
let letters: Mail[];
let refuses: boolean;
let at: number;
beforeEach(async () => {
  world = await startDomain();
  const createdAt = new Date().toISOString();
  await world.machine.store.transact((tx) =>
    tx.insertUser({ email: ADMIN.email, passwordHash: '', isAdmin: true, createdAt }),
  );
  [letters, refuses, at] = [[], false, Date.parse('2026-03-04T05:06:07.089Z')];
});
afterEach(() => world.dispose());

function watch(): AlertWatch {
  const { store, probe } = world.machine;
  return new AlertWatch({
    ...{ store, probe, sampler: world.parts.sampler, logger: SILENT, wake: () => undefined },
    mailer: {
      description: 'here',
      async send(mail) {
        if (refuses) throw new Error('nobody takes it');
        letters.push(mail);
      },
    },
    now: () => new Date(at),
  });
}

async function disk(freeBytes: number): Promise<void> {
  const { probe } = world.machine;
  probe.space = { ...probe.space, freeBytes, totalBytes: 1_000 };
}

const subjects = (): string[] => letters.map(({ subject }) => subject);

it('a disk that fills up is told by letter and to webhooks, and so is that it has room again', async () => {
  const hook = await world.useCases.webhooks.add(ADMIN, {
    ...{ scope: 'platform', owner: '', url: 'https://hooks.example.com/in' },
    kinds: ['alert.firing', 'alert.resolved'],
  });
  await world.useCases.alerts.change(ADMIN, { mail: [OPS], rules: { disk_low: { minutes: 1 } } });
  await disk(50);
  let looks = watch();
  await looks.look();
  expect((await world.useCases.alerts.show(ADMIN)).alerts).toMatchObject([{ rule: 'disk_low', state: 'pending' }]);
  expect(letters).toEqual([]);
  at += MINUTE_MS;
  await looks.look();
  // A control that begins anew has nothing to tell again.
  looks = watch();
  await looks.look();
  await disk(500);
  await looks.look();
  at += MINUTE_MS;
  await looks.look();
  await looks.look();
  expect(subjects()).toEqual(['[Tancho] alert: disk_low of the server', '[Tancho] over: disk_low of the server']);
  expect(letters.map(({ to }) => to)).toEqual([OPS, OPS]);
  const sent = (await world.machine.store.deliveries(hook.id, 10)).map(({ body }) => JSON.parse(body) as unknown);
  expect(sent).toMatchObject([
    { type: 'alert.resolved', data: { rule: 'disk_low' } },
    { type: 'alert.firing', data: { rule: 'disk_low', message: expect.stringContaining('less than 10 %') as string } },
  ]);
  expect((await world.useCases.alerts.show(ADMIN)).alerts).toMatchObject([{ state: 'resolved' }]);
});

it('a letter that nobody takes is sent with the next look, once', async () => {
  await world.useCases.alerts.change(ADMIN, { mail: [OPS], rules: { disk_low: { minutes: 0 } } });
  await disk(50);
  refuses = true;
  await watch().look();
  expect(letters).toEqual([]);
  refuses = false;
  await watch().look();
  await watch().look();
  expect(subjects()).toEqual(['[Tancho] alert: disk_low of the server']);
});

it('an app none of whose units is started is told of, with the app', async () => {
  await world.createApp('shop');
  await world.deploy('shop');
  await world.useCases.alerts.change(ADMIN, { mail: [OPS], rules: { app_down: { minutes: 0 } } });
  await watch().look();
  expect(letters).toEqual([]);
  const [unit] = await world.machine.store.units('shop');
  await world.machine.store.transact((tx) => tx.updateUnit(unit?.id ?? '', { state: 'error' }));
  await watch().look();
  expect(subjects()).toEqual(['[Tancho] alert: app_down of shop']);
});

it('alerts are for admins, and each change of them is an event', async () => {
  await expect(world.useCases.alerts.show(ANN)).rejects.toMatchObject({ code: 'access.denied' });
  await expect(world.useCases.alerts.change(ANN, {})).rejects.toMatchObject({ code: 'access.denied' });
  await expect(world.useCases.alerts.test(ADMIN)).rejects.toMatchObject({ code: 'alert.nobody_told' });
  await world.useCases.alerts.change(ADMIN, { mail: [OPS] });
  expect(await world.useCases.alerts.test(ADMIN)).toEqual({ mailed: [OPS], webhooks: 0 });
  const kinds = (await world.machine.store.events(10)).map(({ action }) => action);
  expect(kinds).toEqual(expect.arrayContaining(['alert.update', 'alert.test']));
});
