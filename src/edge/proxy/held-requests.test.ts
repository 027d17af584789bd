import { expect, it } from 'vitest';
import type { Route } from '../../domain/routes/router.ts';
import { type LiveRoute, LiveTable } from '../routing/route-table.ts';
import { type Applicant, TargetPool } from '../routing/target-pool.ts';
import { Traffic } from '../routing/traffic.ts';
import { HeldRequests } from './held-requests.ts';
import { DEFAULT_SETTINGS } from './settings.ts';

const DOWN_MS = 1_000;
const HOST = 'blog.test';
const ROUTE: Route = { app: 'blog', hosts: [HOST], targets: [], note: '', https: 'both' };

function live(): { route: LiveRoute; pool: TargetPool } {
  const pool = new TargetPool({ unit: 'blog.1', host: '127.0.0.1', port: 9 }, DEFAULT_SETTINGS);
  const counter = new Traffic().counter('blog');
  return { route: { app: 'blog', note: '', https: 'both', answerMs: 1, rules: null, pools: [pool], counter }, pool };
}

const tableOf = (route: LiveRoute): LiveTable => new LiveTable({ version: 1, routes: [ROUTE] }, () => route);

/** Requests with these names; each that is let go writes its name down, and is held no more. */
function holding(names: readonly string[], route: LiveRoute, isUnreached: boolean) {
  const held = new HeldRequests(1_024);
  const freed: string[] = [];
  const hold = (name: string): void => {
    const unitWithdrawn = (): void => void freed.push(name);
    held.add({ unitWithdrawn } as Applicant, { host: HOST, route, isUnreached });
  };
  names.forEach(hold);
  return { held, freed, hold };
}

it('requests stay held by a table that has the same for them', () => {
  const { route } = live();
  const { held, freed } = holding(['a', 'b'], route, false);
  held.release(tableOf(route));
  expect(freed).toEqual([]);
  held.release(tableOf(live().route));
  expect(freed).toEqual(['a', 'b']);
});

it('one asks a unit again that has not refused anybody for a while, and all do where that does not refuse it', () => {
  const { route, pool } = live();
  const { held, freed, hold } = holding(['a', 'b', 'c'], route, true);
  pool.refused(0);
  held.askAgain(DOWN_MS - 1);
  expect(freed).toEqual([]);
  held.askAgain(DOWN_MS);
  expect(freed).toEqual(['a']);
  // It is refused again.
  pool.refused(DOWN_MS);
  hold('a');
  held.askAgain(DOWN_MS + 100);
  expect(freed).toEqual(['a']);
  held.askAgain(2 * DOWN_MS);
  expect(freed).toEqual(['a', 'b']);
  held.askAgain(2 * DOWN_MS + 100);
  expect(freed).toEqual(['a', 'b', 'c', 'a']);
});

it('those that wait by the rules of their app ask nobody by themselves', () => {
  const { route } = live();
  const { held, freed } = holding(['a'], route, false);
  held.askAgain(DOWN_MS);
  expect(freed).toEqual([]);
});
