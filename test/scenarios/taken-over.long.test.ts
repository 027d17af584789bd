/** A server that another one has taken the place of: it begins anew, and says why to whoever reads what it prints. */
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isTaken } from '../../src/lib/processes.ts';
import { until } from '../support/until.ts';
import { edgePid, startWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ hasCluster: false });
});
afterAll(() => world.dispose());

it('a server whose lease somebody else has begins anew as the same process beside the same edge, with the reason in what it prints', async () => {
  const before = [world.pid, await edgePid(world)];
  const database = new DatabaseSync(path.join(world.home, 'tancho.db'), { timeout: 5_000 });
  const taken = database.prepare("update leases set token = token + 1000 where key = 'control'").run();
  database.close();
  expect(taken.changes).toBe(1);
  const starts = (): number => world.output().split('is ready.').length - 1;
  await until(() => starts() === 2, { what: 'the server to be ready again', detail: () => world.output() });
  expect(world.output()).toContain('Warning: This server was away for longer than its lease');
  expect([world.pid, await edgePid(world)]).toEqual(before);
  expect(isTaken(world.pid)).toBe(true);
  expect((await world.api('GET', '/healthcheck')).status).toBe(200);
});
