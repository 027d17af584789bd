import { describe, expect, it } from 'vitest';
import { type Alert, type AlertSettings, changedAlerts, DEFAULT_ALERTS } from './alert.ts';
import { type AlertFacts, conditionsOf } from './conditions.ts';
import { progressOf } from './progress.ts';

const BEGIN = Date.parse('2026-03-04T05:00:00.000Z');
const SETTINGS: AlertSettings = changedAlerts(DEFAULT_ALERTS, { mail: ['ops@example.com'] });
const DOWN = { rule: 'app_down', subject: 'shop', message: 'shop is down.' } as const;

/** Looks every half minute, at what is wrong then; answers what people were notified of, by minute. */
function reported(isWrong: (minute: number) => boolean, minutes: number, settings = SETTINGS): string[] {
  let alerts: readonly Alert[] = [];
  const said: string[] = [];
  for (let minute = 0; minute <= minutes; minute += 0.5) {
    const now = new Date(BEGIN + minute * 60_000);
    const next = progressOf(alerts, isWrong(minute) ? [DOWN] : [], settings, now);
    for (const { state } of next.toNotify) said.push(`${state} at ${minute}`);
    alerts = next.alerts;
  }
  return said;
}

describe('an alert', () => {
  it('is reported when it has lasted, and once more when it has been over for as long', () => {
    expect(reported((minute) => minute < 10, 30)).toEqual(['firing at 2', 'resolved at 12']);
  });

  it('that does not last is reported to nobody', () => {
    expect(reported((minute) => minute % 3 < 1.5, 30)).toEqual([]);
  });

  it('that comes and goes is one, as long as it is not over for long enough', () => {
    expect(reported((minute) => minute < 3 || (minute < 20 && minute % 2 < 1), 40)).toEqual([
      'firing at 2',
      'resolved at 21',
    ]);
  });

  it('that comes again later is reported again', () => {
    expect(reported((minute) => minute < 3 || (minute > 9 && minute < 15), 30)).toEqual([
      'firing at 2',
      'resolved at 5',
      'firing at 11.5',
      'resolved at 17',
    ]);
  });

  it('that was noted by a clock that was ahead does not wait until then', () => {
    const ahead = new Date(BEGIN + 3 * 3_600_000);
    const noted = progressOf([], [DOWN], SETTINGS, ahead).alerts;
    const seen = progressOf(noted, [DOWN], SETTINGS, new Date(BEGIN)).alerts;
    const later = progressOf(seen, [DOWN], SETTINGS, new Date(BEGIN + 2 * 60_000));
    expect(later.toNotify.map(({ state }) => state)).toEqual(['firing']);
  });

  it('without a wait is reported at once', () => {
    const quick = changedAlerts(SETTINGS, { rules: { app_down: { minutes: 0 } } });
    expect(reported((minute) => minute === 1, 3, quick)).toEqual(['firing at 1', 'resolved at 1.5']);
  });

  it('of a rule that is no longer looked for is over', () => {
    const off = changedAlerts(SETTINGS, { rules: { app_down: { isOn: false } } });
    expect(conditionsOf(facts({}), off)).toEqual([]);
  });

  it('needs nothing written while it goes on', () => {
    const first = progressOf([], [DOWN], SETTINGS, new Date(BEGIN));
    const second = progressOf(first.alerts, [DOWN], SETTINGS, new Date(BEGIN + 30_000));
    expect([first.isChanged, second.isChanged]).toEqual([true, false]);
  });
});

const APP = { name: 'shop', desired: 'running', removing: false, rollout: 'r2' } as const;

function facts(more: Partial<AlertFacts>): AlertFacts {
  return {
    now: new Date(BEGIN),
    backups: null,
    apps: [APP],
    units: [
      { app: 'shop', state: 'error', rollout: 'r2' },
      { app: 'shop', state: 'started', rollout: 'r1' },
      { app: 'blog', state: 'started', rollout: 'r2' },
    ],
    series: new Map(),
    certificates: [],
    disk: null,
    ...more,
  };
}

const found = (more: Partial<AlertFacts>, settings = SETTINGS): string[] =>
  conditionsOf(facts({ units: [], ...more }), settings).map(({ rule, subject }) => `${rule} ${subject}`);

function series(values: Readonly<Record<string, number>>): AlertFacts['series'] {
  const all = ['status1xx', 'status2xx', 'status3xx', 'status4xx', 'status5xx', 'restarts'];
  const row = Object.fromEntries(all.map((name) => [name, values[name] ?? 0]));
  const point = { atMs: BEGIN, values: row } as ReturnType<
    NonNullable<ReturnType<AlertFacts['series']['get']>>['read']
  >['points'][number];
  return new Map([['shop', { read: () => ({ stepMs: 10_000, points: [point, point] }) }]]);
}

describe('what is wrong', () => {
  it('is an app none of whose serving units is started', () => {
    expect(conditionsOf(facts({}), SETTINGS)).toEqual([
      { rule: 'app_down', subject: 'shop', message: 'shop is down: 0 of 1 units are started.' },
    ]);
    for (const quiet of [{ desired: 'stopped' }, { removing: true }, { rollout: null }] as const) {
      expect(conditionsOf(facts({ apps: [{ ...APP, ...quiet }] }), SETTINGS)).toEqual([]);
    }
  });

  it('is an app with fewer units than are asked for, unless it has fewer in all', () => {
    const two = changedAlerts(SETTINGS, { rules: { app_down: { threshold: 2 } } });
    const unit = (state: 'started' | 'error') => ({ app: 'shop', state, rollout: 'r2' }) as const;
    expect(found({ units: [unit('started'), unit('error')] }, two)).toEqual(['app_down shop']);
    expect(found({ units: [unit('started')] }, two)).toEqual([]);
    expect(found({ units: [unit('started'), unit('error')] })).toEqual([]);
  });

  it('is an app whose units die again and again', () => {
    expect(found({ series: series({ restarts: 3 }) })).toEqual(['restart_loop shop']);
    expect(found({ series: series({ restarts: 2 }) })).toEqual([]);
  });

  it('is an app of whose answers too many are errors, where there are enough to judge', () => {
    expect(found({ series: series({ status2xx: 94, status5xx: 6 }) })).toEqual(['error_rate shop']);
    expect(found({ series: series({ status2xx: 96, status5xx: 4 }) })).toEqual([]);
    expect(found({ series: series({ status2xx: 4, status5xx: 5 }) })).toEqual([]);
  });

  it('is a disk with too little room', () => {
    const disk = { freeBytes: 9, totalBytes: 100, freeFiles: 1, totalFiles: 1 };
    expect(found({ disk })).toEqual(['disk_low ']);
    expect(found({ disk: { ...disk, freeBytes: 10 } })).toEqual([]);
  });

  it('is a certificate that ends soon, or that cannot be had', () => {
    const one = { names: ['shop.example.com'], state: 'issued', problem: '', notAfter: '' } as const;
    const at = (days: number): string => new Date(BEGIN + days * 86_400_000).toISOString();
    const rule = ['certificate shop.example.com'];
    expect(found({ certificates: [{ ...one, notAfter: at(6.9) }] })).toEqual(rule);
    expect(found({ certificates: [{ ...one, notAfter: at(7.1) }] })).toEqual([]);
    expect(found({ certificates: [{ ...one, notAfter: at(-1), state: 'unused' }] })).toEqual([]);
    expect(found({ certificates: [{ ...one, notAfter: '', state: 'failed' }] })).toEqual(rule);
    expect(found({ certificates: [{ ...one, notAfter: '', state: 'waiting' }] })).toEqual([]);
  });
});

it.each([
  { rules: { none: {} } },
  { rules: { disk_low: { threshold: 0 } } },
  { rules: { disk_low: { minutes: 1.5 } } },
  { mail: ['no address'] },
  { mail: Array.from({ length: 21 }, (_, n) => `a${n}@example.com`) },
])('%j is refused', (change) => {
  expect(() => changedAlerts(DEFAULT_ALERTS, change)).toThrow(expect.objectContaining({ code: 'input.invalid' }));
});
