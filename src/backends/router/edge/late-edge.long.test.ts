/** Control starts on a machine that has too much to do: an edge that gets no processor serves again as soon as it does, and is not ended meanwhile. */
import { access, constants, mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { createEdgeRouter } from './edge-router.ts';
import { EdgeWorld } from './edge-world.ts';

/** More than an edge has that is not known to be alive. */
const LATE_MS = 4_000;
/** What is frozen by this one looks as if it waited for the machine, unlike what is stopped by a signal. */
const FREEZER = '/sys/fs/cgroup/freezer';
const canFreeze = await access(FREEZER, constants.W_OK).then(
  () => true,
  () => false,
);

const world = new EdgeWorld();
afterEach(() => world.dispose());

async function freeze(pid: number): Promise<() => Promise<void>> {
  const group = join(FREEZER, `tancho-late-edge-${pid}`);
  const state = join(group, 'freezer.state');
  await mkdir(group);
  world.undo(() => rmdir(group));
  const thaw = (): Promise<void> => writeFile(state, 'THAWED');
  world.undo(async () => {
    await thaw();
    await writeFile(join(FREEZER, 'cgroup.procs'), String(pid)).catch(() => {});
  });
  await writeFile(join(group, 'cgroup.procs'), String(pid));
  await writeFile(state, 'FROZEN');
  await until(async () => (await readFile(state, 'utf8')).trim() === 'FROZEN', { what: 'the edge to stand still' });
  return thaw;
}

it('an edge that answers late is adopted', async ({ skip }) => {
  if (!canFreeze) return skip(`there is no ${FREEZER} that this user may write`);
  const options = await world.home();
  const first = await world.start(options);
  await first.apply(await world.unit('one'));
  const pid = await world.pid(options);
  await first.close();
  const thaw = await freeze(pid);
  let isThere = false;
  const starting = createEdgeRouter(options).finally(() => (isThere = true));
  world.undo(async () => (await starting).stop());
  await delay(LATE_MS);
  expect(isThere).toBe(false);
  await thaw();
  const second = await starting;
  expect(second.adopted).toBe(true);
  expect(await world.pid(options)).toBe(pid);
  expect((await second.table()).routes.map(({ app }) => app)).toEqual(['blog']);
});
