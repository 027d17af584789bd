import { existsSync, watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CliWorld } from '../../../test/support/cli-world.ts';
import { backupSetOf, copyIntoSet, endUpgrade } from '../../lib/backup-sets.ts';
import { removePidFile, writePidFile } from '../../lib/pid-file.ts';

let world: CliWorld;
beforeEach(async () => {
  world = new CliWorld();
  await mkdir(join(world.home, 'run'));
});
afterEach(() => world.dispose());

const env = () => ({ TANCHO_HOME: world.home });
const rollback = (...args: string[]) => world.run(['server', 'rollback', ...args], { env: env() });
const file = () => join(world.home, 'tancho.db');

/** Writes the number, or reads it. */
function schema(wanted?: number): unknown {
  const database = new DatabaseSync(file());
  if (wanted !== undefined) database.exec(`PRAGMA user_version = ${wanted}`);
  const [row] = database.prepare('PRAGMA user_version').all();
  database.close();
  return row?.['user_version'];
}

async function upgraded(second: number, from: number, to: number): Promise<void> {
  schema(from);
  await copyIntoSet(backupSetOf(world.home, new Date(Date.UTC(2026, 0, 1, 0, 0, second))), file(), 'tancho.db');
  await endUpgrade(world.home);
  schema(to);
}

it('returns to the newest copy, or to one by its name, and says what to start then', async () => {
  await upgraded(1, 1, 2);
  await upgraded(2, 2, 3);
  expect((await rollback('--list')).out).toBe(
    '2026-01-01 00:00:02 UTC (tancho.db; 20260101T000002000Z)\n2026-01-01 00:00:01 UTC (tancho.db; 20260101T000001000Z)\n',
  );
  const { code, out } = await rollback('--yes');
  expect(code).toBe(0);
  expect(out).toMatch(/are those of 2026-01-01 00:00:02 UTC .* again[^]*backups\/replaced[^]*git checkout/);
  expect(schema()).toBe(2);
  expect((await rollback('--to', '20260101T000001000Z', '-y')).code).toBe(0);
  expect(schema()).toBe(1);
});

it('does nothing while the server runs, without a confirmation, or without a copy', async () => {
  expect(await rollback('--yes')).toMatchObject({
    code: 1,
    err: expect.stringContaining('There is no copy to return'),
  });
  await upgraded(1, 1, 2);
  expect(await rollback('--to', 'x', '--yes')).toMatchObject({ code: 1, err: expect.stringContaining('no copy "x"') });
  expect((await rollback()).err).toContain('--yes');
  const pid = join(world.home, 'run', 'control.pid');
  await writePidFile(pid);
  expect((await rollback('--yes')).err).toMatch(/The server \(process \d+\) runs[^]*tancho server stop/);
  await removePidFile(pid);
  expect(schema()).toBe(2);
});

it('has the home to itself while it works, so that no server starts meanwhile', async () => {
  await upgraded(1, 1, 2);
  const pid = join(world.home, 'run', 'control.pid');
  const seen: (string | null)[] = [];
  const watcher = watch(join(world.home, 'run'), (_, name) => seen.push(name));
  expect((await rollback('--yes')).code).toBe(0);
  await expect.poll(() => seen, { timeout: 60_000 }).toContain('control.pid');
  watcher.close();
  expect(existsSync(pid)).toBe(false);
});

it('leaves PostgreSQL to its operator', async () => {
  const postgres = { ...env(), TANCHO_DATABASE_URL: 'postgres://db.internal/tancho' };
  const { code, err } = await world.run(['server', 'rollback', '--yes'], { env: postgres });
  expect(code).toBe(1);
  expect(err).toMatch(/in PostgreSQL[^]*pg_restore/);
});
