/** The same platform with its state in PostgreSQL: push, variables, log, kill -9; and a database that goes away for a while. */
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtProgram } from '../support/built.ts';
import {
  allowPush,
  createIdentity,
  createWorkTree,
  type Identity,
  nodeApp,
  sshUrl,
  type WorkTree,
} from '../support/git.ts';
import { createLoad } from '../support/load.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { NO_POSTGRES, skipFor } from '../support/skips.ts';
import { until } from '../support/until.ts';
import { run, startWorld, type World } from '../support/world.ts';

const database = await createTestDatabase();

describe('with its state in PostgreSQL', skipFor(database === null && NO_POSTGRES), () => {
  let world: World;
  let ann: Identity;
  let token: string;
  let work: WorkTree;

  beforeAll(async () => {
    world = await startWorld({ env: { TANCHO_DATABASE_URL: database?.url ?? '' } });
    ann = await createIdentity();
    token = await allowPush(world, ann);
    await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'afar', platform: 'nodejs' }) });
    work = await createWorkTree(nodeApp('one'), ann);
  });

  afterAll(async () => {
    await work.dispose();
    await world.dispose();
    await ann.dispose();
    await database?.dispose();
  });

  async function push(text: string): Promise<void> {
    await work.write(nodeApp(text));
    await work.commit(text);
    const pushed = await work.push(sshUrl(world, 'afar'));
    expect(pushed.code, pushed.stderr).toBe(0);
    expect((await world.fetchApp('afar')).text).toBe(text);
  }

  async function logged(text: string): Promise<boolean> {
    const entries = (await world.api('GET', '/apps/afar/log?lines=50', { token })).json<{ Message: string }[]>();
    return entries.some((entry) => entry.Message.includes(text));
  }

  it('a push serves, and nothing is stored in the home', async () => {
    await push('one');
    expect((await readdir(world.home)).filter((name) => name.endsWith('.db'))).toEqual([]);
  });

  it('variables and log work', async () => {
    const body = JSON.stringify({ GREETING: 'hello from afar' });
    const set = await world.api('POST', '/apps/afar/env', { token, body });
    expect(set.status, set.text).toBe(200);
    expect((await world.fetchApp('afar', '/env')).text).toBe('hello from afar');
    await world.fetchApp('afar', '/for-the-log');
    await until(() => logged('asked for /for-the-log'), { what: 'the line to be in the log' });
  });

  it('kill -9 loses nothing, and no request', async () => {
    const units = async (): Promise<string[]> =>
      (await world.api('GET', '/apps/afar', { token })).json<{ Units: { ID: string }[] }>().Units.map(({ ID }) => ID);
    const before = await units();
    const load = createLoad(world, 'afar', 4);
    await load.reached(50);
    await world.end('SIGKILL');
    await world.startAgain();
    await load.reached(150);
    expect((await load.stop()).failures).toEqual([]);
    expect(await units()).toEqual(before);
    expect((await world.fetchApp('afar', '/env')).text).toBe('hello from afar');
    await push('two');
  });

  it('a second server with the same key is refused while this one is there', async () => {
    const home = await mkdtemp(path.join(os.tmpdir(), 'tancho-second-'));
    try {
      await copyFile(path.join(world.home, 'secret.key'), path.join(home, 'secret.key'));
      const listens = ['API', 'EDGE', 'SSH'].map((door) => [`TANCHO_${door}_LISTEN`, '127.0.0.1:0']);
      const second = await run(process.execPath, [path.join(await builtProgram(), 'main.js'), 'server'], {
        cwd: home,
        env: {
          PATH: process.env['PATH'] ?? '',
          TANCHO_HOME: home,
          TANCHO_DATABASE_URL: database?.url ?? '',
          ...Object.fromEntries(listens),
        },
        timeoutMs: 60_000,
      });
      expect([second.code, second.stdout]).toEqual([1, '']);
      expect(second.stderr).toMatch(/^Error: Another server works with this database\.\n {2}Hint: Stop it first/);
      expect((await world.fetchApp('afar')).text).toBe('two');
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });

  it('connections that break are made again', async () => {
    const client = new pg.Client({ connectionString: database?.url });
    await client.connect();
    try {
      const { rowCount } = await client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
      expect(rowCount).toBeGreaterThan(0);
    } finally {
      await client.end();
    }
    await until(async () => (await world.api('GET', '/apps/afar', { token })).status === 200, {
      what: 'the API to work again',
    });
    await push('three');
    await world.fetchApp('afar', '/afterwards');
    await until(() => logged('asked for /afterwards'), { what: 'the log to go on' });
  });
});
