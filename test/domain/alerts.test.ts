/** People are notified when something begins to be wrong and when that is over: once each, whatever fails in between. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AlertWatch } from '../../src/domain/alerts/alert-watch.ts';
import { ALERT_RULES, type AlertRuleName } from '../../src/domain/alerts/alert.ts';
import type { UserCaller } from '../../src/domain/caller.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import { newRecord } from '../../src/domain/certificates/certificate.ts';
import { AppSeries, type Totals } from '../../src/domain/metrics/app-series.ts';
import type { Sample } from '../../src/domain/metrics/level.ts';
import type { Unit } from '../../src/domain/units/unit.ts';
import type { Mail } from '../../src/domain/users/mailer.ts';
import { NO_ANSWERS } from '../../src/lib/answer-counts.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

const ADMIN: UserCaller = { ...ANN, email: 'admin@example.com', isAdmin: true, teams: [] };
const OPS = 'ops@example.com';
const MINUTE_MS = 60_000;

let world: DomainWorld;
let letters: Mail[];
let refuses: boolean;
/** Nobody is there. */
const WRONG = 'nobody@example.com';
let isWrongRefused: boolean;
let at: number;
beforeEach(async () => {
  world = await startDomain();
  const createdAt = new Date().toISOString();
  await world.machine.store.transact((tx) =>
    tx.insertUser({ email: ADMIN.email, passwordHash: '', isAdmin: true, createdAt }),
  );
  [letters, refuses, isWrongRefused, at] = [[], false, true, Date.parse('2026-03-04T05:06:07.089Z')];
});
afterEach(() => world.dispose());

/** `series`: what the metrics know of each app. */
function watch(series: ReadonlyMap<string, AppSeries> = world.parts.sampler.all): AlertWatch {
  const { store, probe, backupStore } = world.machine;
  return new AlertWatch({
    ...{ store, probe, backupStore, sampler: { all: series }, logger: SILENT, wake: () => undefined },
    mailer: {
      description: 'here',
      async send(mail) {
        if (refuses || (isWrongRefused && mail.to === WRONG)) throw new Error('nobody takes it');
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

it('a disk that fills up is reported by letter and to webhooks, and so is that it has room again', async () => {
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
  // A control that begins anew does not notify again.
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

it('an address that no server takes keeps the letter from nobody, and has nobody reported again', async () => {
  await world.createApp('shop');
  await world.deploy('shop');
  const rules = { disk_low: { minutes: 0 }, app_down: { minutes: 0 } };
  await world.useCases.alerts.change(ADMIN, { mail: [WRONG, OPS], rules });
  await disk(50);
  const [unit] = await world.machine.store.units('shop');
  await world.machine.store.transact((tx) => tx.updateUnit(unit?.id ?? '', { state: 'error' }));
  const looks = watch();
  for (let n = 0; n < 3; n += 1) await looks.look();
  expect(letters.map(({ to, subject }) => `${to} ${subject}`).sort()).toEqual([
    `${OPS} [Tancho] alert: app_down of shop`,
    `${OPS} [Tancho] alert: disk_low of the server`,
  ]);
  isWrongRefused = false;
  for (let n = 0; n < 2; n += 1) await looks.look();
  expect(letters.slice(2).map(({ to }) => to)).toEqual([WRONG, WRONG]);
});

it('a letter that nobody has taken for a day is given up', async () => {
  await world.useCases.alerts.change(ADMIN, { mail: [WRONG], rules: { disk_low: { minutes: 0 } } });
  await disk(50);
  const looks = watch();
  await looks.look();
  at += 25 * 60 * MINUTE_MS;
  await looks.look();
  isWrongRefused = false;
  await looks.look();
  expect(letters).toEqual([]);
});

it('an app none of whose units is started is reported, with the app', async () => {
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

interface Broken {
  /** Makes it well again. */
  mend(): Promise<void>;
  readonly subject: string;
  readonly words: RegExp;
}

const SAMPLE: Sample = { cpuMillis: 0, memoryBytes: 0, units: 1, restarts: 0, requests: 0, failures: 0, logLines: 0 };
const TOTALS: Totals = { cpuMs: 0, restarts: 0, requests: 0, failures: 0, answers: NO_ANSWERS };

/** Each rule: what it takes to break it, with what the metrics know. */
const BREAKS: Readonly<Record<AlertRuleName, (series: AppSeries) => Promise<Broken>>> = {
  async app_down() {
    const { store } = world.machine;
    const [unit] = await store.units('shop');
    const put = (state: Unit['state']) => store.transact((tx) => tx.updateUnit(unit?.id ?? '', { state }));
    await put('error');
    const mend = async (): Promise<void> => {
      await put('starting');
      await put('started');
    };
    return { mend, subject: 'shop', words: /^shop is down: 0 of 1 units are started/ };
  },
  async restart_loop(series) {
    series.add(at, { ...SAMPLE, restarts: 5 }, NO_ANSWERS, TOTALS);
    const mend = async (): Promise<void> => void (at += 11 * MINUTE_MS);
    return { mend, subject: 'shop', words: /^Units of shop have died 5 times in ten minutes/ };
  },
  async error_rate(series) {
    series.add(at, SAMPLE, { ...NO_ANSWERS, classes: [0, 18, 0, 0, 2], times: NO_ANSWERS.times.with(0, 20) }, TOTALS);
    const mend = async (): Promise<void> => void (at += 6 * MINUTE_MS);
    return { mend, subject: 'shop', words: /^shop answered 2 of 20 requests in five minutes with a status of 5xx/ };
  },
  async disk_low() {
    await disk(50);
    return {
      mend: () => disk(500),
      subject: 'the server',
      words: /less than 10 %. To see who holds what: tancho server disk/,
    };
  },
  async certificate() {
    const { store } = world.machine;
    const record = newRecord('c1', ['shop.example.com'], 'shop', new Date(at));
    const put = (daysLeft: number) =>
      store.transact((tx) =>
        tx.putCertificate({
          ...record,
          ...{ state: 'issued', chain: 'a chain', problem: 'the name leads elsewhere.' },
          notAfter: new Date(at + daysLeft * 24 * 60 * MINUTE_MS).toISOString(),
        }),
      );
    await put(6.5);
    return {
      mend: () => put(60),
      subject: 'shop.example.com',
      words: /^The certificate of shop.example.com ends in 6 days. The last attempt .* the name leads elsewhere/,
    };
  },
  async backup() {
    const { backupStore } = world.machine;
    const { answer } = backupStore;
    backupStore.answer = () => Promise.reject(new PlatformError('unavailable', 'The backup failed: no space left.'));
    const make = () => world.useCases.backups.make(ADMIN, () => undefined);
    await expect(make()).rejects.toMatchObject({ code: 'unavailable' });
    backupStore.answer = answer;
    return { mend: make, subject: 'the server', words: /^The backup failed: no space left. There is none yet./ };
  },
};

it.each(ALERT_RULES)('%s: is reported once when it begins, and once when it is over', async (rule) => {
  await world.createApp('shop');
  await world.deploy('shop');
  await disk(500);
  await world.useCases.alerts.change(ADMIN, { mail: [OPS], rules: { [rule]: { minutes: 0 } } });
  const series = new AppSeries();
  const looks = watch(new Map([['shop', series]]));
  await looks.look();
  expect(letters).toEqual([]);
  const { mend, subject, words } = await BREAKS[rule](series);
  await looks.look();
  await looks.look();
  expect(subjects()).toEqual([`[Tancho] alert: ${rule} of ${subject}`]);
  const { alerts } = await world.useCases.alerts.show(ADMIN);
  expect(alerts).toMatchObject([{ rule, state: 'firing', message: expect.stringMatching(words) as string }]);
  await mend();
  await looks.look();
  await looks.look();
  expect(subjects()).toEqual([`[Tancho] alert: ${rule} of ${subject}`, `[Tancho] over: ${rule} of ${subject}`]);
});

it('alerts are for admins, and each change of them is an event', async () => {
  await expect(world.useCases.alerts.show(ANN)).rejects.toMatchObject({ code: 'access.denied' });
  await expect(world.useCases.alerts.change(ANN, {})).rejects.toMatchObject({ code: 'access.denied' });
  await expect(world.useCases.alerts.test(ADMIN)).rejects.toMatchObject({ code: 'alert.no_recipient' });
  await world.useCases.alerts.change(ADMIN, { mail: [OPS] });
  expect(await world.useCases.alerts.test(ADMIN)).toEqual({ mailed: [OPS], webhooks: 0 });
  const kinds = (await world.machine.store.events(10)).map(({ action }) => action);
  expect(kinds).toEqual(expect.arrayContaining(['alert.update', 'alert.test']));
});
