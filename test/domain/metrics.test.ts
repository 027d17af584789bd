/** What apps used and did: measured step by step, bounded, and for those who may see the app. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { UserCaller } from '../../src/domain/caller.ts';
import { AppSeries } from '../../src/domain/metrics/app-series.ts';
import { COARSE, FINE, LEVELS, type Sample, thinned, YEAR } from '../../src/domain/metrics/level.ts';
import { MetricsArchive } from '../../src/domain/metrics/metrics-archive.ts';
import { prometheusText } from '../../src/domain/metrics/prometheus.ts';
import { Ring } from '../../src/domain/metrics/ring.ts';
import { type AnswerCounts, NO_ANSWERS } from '../../src/lib/answer-counts.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

const ADMIN: UserCaller = { ...ANN, email: 'root@example.com', isAdmin: true };
const BOB: UserCaller = { ...ANN, email: 'bob@example.com', teams: ['others'] };
const STEP_MS = 10_000;

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
  await world.deploy('shop');
});
afterEach(() => world.dispose());

const sample = (): Promise<void> => world.parts.sampler.sample();
const points = async (since?: string) => (await world.useCases.metrics.ofApp(ANN, 'shop', since)).points;
const last = async () => (await points()).at(-1)?.values;

async function theUnit(): Promise<string> {
  return (await world.machine.store.units('shop'))[0]?.id ?? '';
}

async function ask(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const url = `http://${world.machine.router.listen}/`;
    const { request } = await import('node:http');
    await new Promise<void>((resolve, reject) => {
      const asked = request(url, { headers: { host: 'shop.apps.test' }, agent: false }, (answer) => {
        answer.resume().on('end', resolve);
      });
      asked.on('error', reject).end();
    });
  }
}

it('are what units used and the router answered since the step before', async () => {
  const id = await theUnit();
  const { usage } = world.machine.units;
  usage.set(id, { cpuMs: 70_000, memoryBytes: 1024 ** 2 });
  await ask(2);
  await sample();
  // What was before the first look belongs to no step.
  expect(await last()).toMatchObject({ cpuMillis: 0, memoryBytes: 1024 ** 2, units: 1, requests: 0 });
  usage.set(id, { cpuMs: 75_000, memoryBytes: 2 * 1024 ** 2 });
  await ask(3);
  world.machine.pass(STEP_MS);
  await sample();
  const now = await last();
  expect(now).toMatchObject({ memoryBytes: 2 * 1024 ** 2, units: 1, requests: 3, failures: 0, restarts: 0 });
  // Half a processor, at most: the clock goes on meanwhile.
  expect(now?.cpuMillis).toBeGreaterThan(0);
  expect(now?.cpuMillis).toBeLessThanOrEqual(500);
});

it('count the lines of the log, each in the step in which it was written', async () => {
  await sample();
  world.machine.pass(STEP_MS);
  const log = (lines: readonly string[]) => world.useCases.logs.push(ANN, 'shop', { lines, source: '', unit: '' });
  await log(['one', 'two', 'three']);
  await sample();
  expect(await last()).toMatchObject({ logLines: 3 });
  world.machine.pass(STEP_MS);
  await log(['four']);
  await sample();
  expect((await points()).slice(-2).map(({ values }) => values.logLines)).toEqual([3, 1]);
  world.machine.pass(STEP_MS);
  await sample();
  expect(await last()).toMatchObject({ logLines: 0 });
});

it('count answers by the class of their status, and how long they took', async () => {
  await sample();
  await ask(4);
  await world.useCases.startStop.stop(ANN, 'shop', '', () => {});
  await ask(2);
  const answered = async () => {
    const { answers } = await world.machine.router.traffic('shop');
    return answers.times.reduce((sum, count) => sum + count, 0);
  };
  await expect.poll(answered).toBe(6);
  world.machine.pass(STEP_MS);
  await sample();
  const now = await last();
  expect(now).toMatchObject({ status1xx: 0, status2xx: 4, status3xx: 0, status4xx: 0, status5xx: 2 });
  expect(now?.p50Ms).toBeGreaterThan(0);
  expect(now?.p99Ms).toBeGreaterThanOrEqual(now?.p95Ms ?? Infinity);
  const { answerTimes } = await world.useCases.metrics.ofApp(ANN, 'shop');
  expect(answerTimes.counts.reduce((sum, count) => sum + count, 0)).toBe(6);
  expect(answerTimes.counts).toHaveLength(answerTimes.boundsMs.length + 1);
  expect(answerTimes.sumMs).toBeGreaterThan(0);
});

it('count deaths, and begin anew with the next life of a unit', async () => {
  const id = await theUnit();
  world.machine.units.usage.set(id, { cpuMs: 90_000, memoryBytes: 0 });
  await sample();
  await world.machine.units.kill(id);
  await expect.poll(async () => (await world.machine.store.unit(id))?.exits).toBe(1);
  await expect.poll(async () => (await world.machine.store.unit(id))?.state).toBe('started');
  world.machine.units.usage.set(id, { cpuMs: 1_000, memoryBytes: 0 });
  world.machine.pass(STEP_MS);
  await sample();
  const now = await last();
  expect(now).toMatchObject({ restarts: 1, units: 1 });
  expect(now?.cpuMillis).toBeLessThanOrEqual(100);
});

it('count all that a unit did which was not there the step before', async () => {
  await sample();
  await world.deploy('shop');
  await world.settled();
  const id = await theUnit();
  world.machine.units.usage.set(id, { cpuMs: 2_000, memoryBytes: 0 });
  await world.machine.units.kill(id);
  await expect.poll(async () => (await world.machine.store.unit(id))?.exits).toBe(1);
  await expect.poll(async () => (await world.machine.store.unit(id))?.state).toBe('started');
  world.machine.pass(STEP_MS);
  await sample();
  const now = await last();
  expect(now).toMatchObject({ restarts: 1, units: 1 });
  expect(now?.cpuMillis).toBeGreaterThan(0);
});

it('survive a router and a store that do not answer, with a step missing', async () => {
  await sample();
  world.faults.on('router.traffic', () => {
    throw new Error('away');
  });
  world.machine.pass(STEP_MS);
  await sample();
  expect(await last()).toMatchObject({ units: 1, requests: 0 });
  const before = (await points()).length;
  world.faults.on('store.allUnits', () => {
    throw new Error('away');
  });
  world.machine.pass(STEP_MS);
  await sample();
  expect(await points()).toHaveLength(before);
  expect(world.complaints.join('\n')).toContain('could not be measured');
});

it('are forgotten with the app', async () => {
  await sample();
  expect(await points()).not.toEqual([]);
  await world.remove('shop');
  await world.createApp('shop');
  world.machine.pass(STEP_MS);
  await sample();
  world.machine.pass(STEP_MS);
  await world.remove('shop');
  await sample();
  expect(world.parts.sampler.of('shop')).toBeNull();
});

it("are for the app's teams; all apps together for admins", async () => {
  await sample();
  const { metrics } = world.useCases;
  await expect(metrics.ofApp(BOB, 'shop')).rejects.toMatchObject({ code: 'access.denied' });
  await expect(metrics.ofApp(ANN, 'none')).rejects.toMatchObject({ code: 'app.not_found' });
  await expect(metrics.ofApp(ANN, 'shop', 'soon')).rejects.toMatchObject({ code: 'input.invalid' });
  await expect(metrics.ofApp(ANN, 'shop', '2999-01-01T00:00:00Z')).rejects.toMatchObject({ code: 'input.invalid' });
  await expect(metrics.prometheus(ANN)).rejects.toMatchObject({ code: 'access.denied' });
  expect(await metrics.prometheus(ADMIN)).toContain('tancho_app_units{app="shop"} 1\n');
});

const ROW: Sample = { cpuMillis: 100, memoryBytes: 10, units: 1, restarts: 0, requests: 6, failures: 1, logLines: 2 };
/** Of ten answers each. */
const FAST: AnswerCounts = { ...NO_ANSWERS, classes: [0, 10, 0, 0, 0], times: bucket(2, 10), timeMs: 30 };
const SLOW: AnswerCounts = { ...NO_ANSWERS, classes: [0, 0, 0, 0, 10], times: bucket(9, 10), timeMs: 9_000 };
const NONE = { status1xx: 0, status2xx: 0, status3xx: 0, status4xx: 0, status5xx: 0, p50Ms: 0, p95Ms: 0, p99Ms: 0 };
const TOTALS = { cpuMs: 1_500, restarts: 2, requests: 30, failures: 4, answers: SLOW };

function bucket(at: number, count: number): number[] {
  return NO_ANSWERS.times.with(at, count);
}

it('outlive a restart, also of a step that one control began and the next one ended', async () => {
  // A step that was begun before there was the app is that of another one.
  world.machine.pass(YEAR.stepMs);
  await sample();
  await ask(2);
  world.machine.pass(STEP_MS);
  await sample();
  await world.parts.sampler.close();
  world.crash();
  world = await world.machine.start();
  await sample();
  await ask(3);
  world.machine.pass(STEP_MS);
  await sample();
  const requests = async (since: string): Promise<number> =>
    (await points(since)).reduce((sum, { values }) => sum + values.requests, 0);
  expect([await requests('1h'), await requests('3d'), await requests('90d')]).toEqual([5, 5, 5]);
  // Of an app that had the name before, nothing is shown.
  await world.remove('shop');
  world.machine.pass(STEP_MS);
  await world.createApp('shop');
  expect(await points('90d')).toEqual([]);
});

it('are kept for hours, days and a year, within a bound for each app', async () => {
  const archive = new MetricsArchive({ logStore: world.machine.logStore, logger: SILENT });
  const series = new AppSeries();
  const all = new Map([['shop', series]]);
  const begin = Date.parse('2026-03-04T00:00:00Z');
  const [quarter, day] = [YEAR.stepMs, 96 * YEAR.stepMs];
  const measureDay = async (from: number): Promise<void> => {
    for (let at = from; at < from + day; at += quarter) {
      series.add(at, ROW, FAST, TOTALS);
      series.add(at + STEP_MS, { ...ROW, cpuMillis: 300 }, NO_ANSWERS, TOTALS);
      await archive.keep(all, at + STEP_MS);
    }
    await archive.keep(all, from + day + quarter);
  };
  await measureDay(begin);
  const year = await archive.read('shop', YEAR, begin, begin + day - 1);
  expect(year).toHaveLength(96);
  expect(year[40]?.values).toMatchObject({ cpuMillis: 200, memoryBytes: 10, requests: 12, status2xx: 10, samples: 2 });
  expect(await archive.read('shop', COARSE, begin, begin + day)).toHaveLength(96);
  await measureDay(begin + 300 * day);
  expect(await archive.read('shop', YEAR, begin, begin + 301 * day)).toHaveLength(2 * 96);
  expect(await archive.read('shop', COARSE, begin, begin + 200 * day)).toEqual([]);
  expect((await archive.read('shop', FINE, begin, begin + 302 * day)).length).toBeLessThanOrEqual(2 * 4 * 8);
  await measureDay(begin + 372 * day);
  expect(await archive.read('shop', YEAR, begin, begin + 200 * day)).toEqual([]);
  for (const { stepMs, chunkSteps, keptMs } of LEVELS) {
    const chunks = await world.machine.logStore.metricsChunks('shop', stepMs, 0, begin + 400 * day);
    expect(chunks.length).toBeLessThanOrEqual(keptMs / (stepMs * chunkSteps) + 2);
    for (const { data } of chunks) expect(data.length).toBeLessThan(32 * 1024);
  }
});

it('are reported in so few steps that a page can show them', () => {
  const point = (atMs: number, n: number) => ({ atMs, values: { ...ROW, ...NONE, requests: n, p99Ms: n, samples: 1 } });
  const points = Array.from({ length: 10 }, (_, n) => point(n * 10, n));
  const { stepMs, points: few } = thinned(points, 10, 4);
  expect(stepMs).toBe(30);
  expect(few.map(({ atMs, values }) => [atMs, values.requests, values.p99Ms, values.cpuMillis])).toEqual([
    [0, 3, 2, 100],
    [30, 12, 5, 100],
    [60, 21, 8, 100],
    [90, 9, 9, 100],
  ]);
  expect(thinned([], 10, 4)).toEqual({ stepMs: 10, points: [] });
});

it('are kept in a ring: the newest replaces the oldest', () => {
  const ring = new Ring(['n'], { stepMs: 10, slots: 3 });
  for (const n of [1, 2, 3, 4, 5]) ring.put(n * 10 + 3, { n });
  const read = (from: number, to: number) => ring.read(from, to).map(({ atMs, values }) => [atMs, values.n]);
  const kept = [
    [30, 3],
    [40, 4],
    [50, 5],
  ];
  expect(read(0, 59)).toEqual(kept);
  expect(read(40, 49)).toEqual([[40, 4]]);
  ring.put(80, { n: 8 });
  expect(read(0, 85)).toEqual([[80, 8]]);
});

it('go on being kept when a clock that was ahead is set right', async () => {
  const archive = new MetricsArchive({ logStore: world.machine.logStore, logger: SILENT });
  const series = new AppSeries();
  const all = new Map([['shop', series]]);
  const begin = Date.parse('2026-03-04T00:00:00Z');
  const measure = async (at: number): Promise<void> => {
    series.add(at, ROW, FAST, TOTALS);
    await archive.keep(all, at + YEAR.stepMs);
  };
  for (const step of [1, 97, 1, 2, 3, 4]) await measure(begin + step * YEAR.stepMs);
  for (const shape of LEVELS)
    expect(await archive.read('shop', shape, begin, begin + 50 * YEAR.stepMs)).toHaveLength(4);
});

it('are reported by the minute where they reach back far: means of levels, sums of counts', () => {
  const series = new AppSeries();
  const from = Date.parse('2026-03-04T05:00:00Z');
  for (let n = 0; n < 12; n++)
    series.add(from + n * STEP_MS, { ...ROW, cpuMillis: n < 6 ? 100 : 300 }, n < 6 ? NO_ANSWERS : FAST, TOTALS);
  const fine = series.read(from, from + 119_000);
  expect([fine.stepMs, fine.points.length]).toEqual([10_000, 12]);
  const coarse = series.read(from - 86_400_000, from + 119_000);
  expect(coarse.stepMs).toBe(60_000);
  expect(coarse.points.map(({ values }) => values)).toEqual([
    { ...ROW, requests: 36, failures: 6, logLines: 12, ...NONE, samples: 6 },
    {
      ...ROW,
      cpuMillis: 300,
      requests: 36,
      failures: 6,
      logLines: 12,
      ...NONE,
      samples: 6,
      status2xx: 60,
      p50Ms: 3.75,
      p95Ms: 4.875,
      p99Ms: expect.closeTo(4.975),
    },
  ]);
});

it('are counters and gauges for Prometheus, of a bounded number of apps', () => {
  const text = prometheusText(new Map([['shop', { latest: ROW, totals: TOTALS }]]));
  expect(text).toContain('# TYPE tancho_app_cpu_seconds_total counter\ntancho_app_cpu_seconds_total{app="shop"} 1.5\n');
  expect(text).toContain('tancho_app_requests_total{app="shop"} 30\n');
  for (const line of text.trimEnd().split('\n')) {
    expect(line).toMatch(
      /^(?:# (?:HELP|TYPE) tancho_\w+ .+|tancho_\w+\{app="[a-z0-9-]*"(?:,\w+="[\w.+]+")?\} [\d.e+]+)$/,
    );
  }
  expect(text).toContain('tancho_app_answers_total{app="shop",class="5xx"} 10\n');
  expect(text).toContain('tancho_app_answer_seconds_bucket{app="shop",le="0.5"} 0\n');
  expect(text).toContain('tancho_app_answer_seconds_bucket{app="shop",le="1"} 10\n');
  expect(text).toContain('tancho_app_answer_seconds_bucket{app="shop",le="+Inf"} 10\n');
  expect(text).toContain(
    'tancho_app_answer_seconds_sum{app="shop"} 9\ntancho_app_answer_seconds_count{app="shop"} 10\n',
  );
  const many = Array.from({ length: 1_500 }, (_, n) => [`app-${n}`, { latest: ROW, totals: TOTALS }] as const);
  const bounded = prometheusText(new Map(many)).split('\n');
  expect(bounded.filter((line) => line.startsWith('tancho_app_units{'))).toHaveLength(1_001);
  expect(bounded).toContain('tancho_app_units{app=""} 500');
});

it('of the platform itself say which deploys ended, and why, and how long the store took', async () => {
  await expect(world.deploy('shop', { failure: 'build_failed' })).rejects.toMatchObject({ code: 'deploy.failed' });
  const text = await world.useCases.metrics.prometheus(ADMIN);
  expect(text).toContain('tancho_deploys_total{state="done",cause=""} 1');
  expect(text).toContain('tancho_deploys_total{state="failed",cause="build_failed"} 1');
  expect(text).toMatch(/^tancho_deploy_step_seconds_count\{step="building"\} 2$/m);
  expect(text).toMatch(/^tancho_store_transaction_seconds_count [1-9]/m);
});
