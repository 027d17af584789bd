/** The dashboard and the alert rules that come with it ask for what GET /metrics answers, and for nothing else. */
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { PlatformCounters } from '../../src/domain/metrics/platform-counters.ts';
import { platformText } from '../../src/domain/metrics/platform-gauges.ts';
import { prometheusText } from '../../src/domain/metrics/prometheus.ts';
import { NO_ANSWERS } from '../../src/lib/answer-counts.ts';
import type { UserCaller } from '../../src/domain/caller.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

const ADMIN: UserCaller = { ...ANN, email: 'root@example.com', isAdmin: true };
const folder = new URL('../../examples/monitoring/', import.meta.url);

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain({ diskReserveBytes: 1_000 });
});
afterEach(() => world.dispose());

/** Names of series, of an app that has answered something and of the platform. */
function offered(): Set<string> {
  const sample = { cpuMillis: 0, memoryBytes: 0, units: 1, restarts: 0, requests: 1, failures: 0, logLines: 0 };
  const answers = { ...NO_ANSWERS, times: NO_ANSWERS.times.with(0, 1) };
  const totals = { cpuMs: 0, restarts: 0, requests: 1, failures: 0, answers };
  const space = { freeBytes: 1, totalBytes: 2, freeFiles: 3, totalFiles: 4 };
  const platform = { disk: space, reserveBytes: 5, unfinished: [], auditRows: 6, storeBytes: 1 };
  const counters = new PlatformCounters();
  counters.apiAnswered('apps.list', 200, 1);
  counters.deployEnded('failed', 'build_failed', { building: 1 });
  const apps = prometheusText(new Map([['shop', { latest: sample, totals }]]));
  const text = apps + platformText(platform) + counters.text();
  return new Set([...text.matchAll(/^(tancho_\w+)/gm)].flatMap(([, name]) => name ?? []));
}

const asked = (text: string): string[] => [...new Set(text.match(/tancho_\w+/g) ?? [])].sort();

it('the dashboard shows every series', async () => {
  const text = await readFile(new URL('grafana-dashboard.json', folder), 'utf8');
  const { panels } = JSON.parse(text) as { panels: { id: number; targets: { expr: string }[] }[] };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const shown = asked(panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n'));
  const all = [...offered()].filter((name) => !/_seconds_(?:sum|count)$/.test(name)).sort();
  expect(shown).toEqual(all);
});

it('the alert rules ask for series that there are', async () => {
  const { groups } = parse(await readFile(new URL('alerts.yml', folder), 'utf8')) as {
    groups: { rules: { alert: string; expr: string; for: string; annotations: { summary: string } }[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(5);
  for (const { alert, expr, annotations } of rules) {
    expect(
      asked(expr).filter((name) => !offered().has(name)),
      alert,
    ).toEqual([]);
    expect(annotations.summary, alert).not.toBe('');
  }
});

it('the platform says how full its disk is, which deploys go on, and how long its audit log is', async () => {
  await world.createApp('shop');
  await world.parts.auditLog.sequence();
  world.machine.probe.space = { freeBytes: 7_000, totalBytes: 9_000, freeFiles: 8, totalFiles: 10 };
  const building = world.faults.hold('builder.build');
  const deploying = world.deploy('shop');
  await building.reached;
  const text = await world.useCases.metrics.prometheus(ADMIN);
  building.release();
  await deploying;
  expect(text).toContain('# TYPE tancho_disk_free_bytes gauge\ntancho_disk_free_bytes 7000\n');
  expect(text).toContain('tancho_disk_reserve_bytes 1000\n');
  expect(text).toContain('tancho_deploys_unfinished{state="building"} 1\n');
  expect(text).toContain('tancho_deploys_unfinished{state="starting"} 0\n');
  expect(text).toContain('tancho_audit_rows 1\n');
});

it('admins learn how the platform itself is: what it is made with, what waits, how full its disk is', async () => {
  world.machine.probe.space = { freeBytes: 7_000, totalBytes: 9_000, freeFiles: 8, totalFiles: 10 };
  await expect(world.useCases.health.report(ANN)).rejects.toMatchObject({ code: 'access.denied' });
  await world.createApp('shop');
  const building = world.faults.hold('builder.build');
  const deploying = world.deploy('shop');
  await building.reached;
  const { deploys, space, programs, processes } = await world.useCases.health.report(ADMIN);
  building.release();
  await deploying;
  expect(deploys).toEqual([{ state: 'building', count: 1 }]);
  expect(space?.freeBytes).toBe(7_000);
  expect(programs.map(({ name }) => name)).toEqual(['Node.js', expect.stringMatching(/^(?:SQLite|PostgreSQL)$/)]);
  expect(processes).toHaveLength(1);
});
