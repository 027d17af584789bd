/** The example guest book: pushed, bound to a database by the bundled provider, serving rows of it, unbound. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allowPush, createIdentity, createWorkTree, type Identity, sshUrl, type WorkTree } from '../support/git.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type ProviderProcess, startProviderProcess } from '../support/provider-process.ts';
import { NO_POSTGRES, skipFor } from '../support/skips.ts';
import { type HttpAnswer, request, run, startWorld, type World } from '../support/world.ts';

const EXAMPLE = new URL('../../examples/guestbook-postgres', import.meta.url).pathname;
const VARIABLES = ['DATABASE_URL', 'PGDATABASE', 'PGHOST', 'PGPASSWORD', 'PGPORT', 'PGUSER'];

const npm = await promisify(execFile)('npm', ['ping', '--fetch-retries=0', '--fetch-timeout=5000'], {
  timeout: 15_000,
}).then(
  () => true,
  () => false,
);
const database: TestDatabase | null = npm ? await createTestDatabase() : null;

describe(
  'the guest book',
  skipFor(npm ? database === null && NO_POSTGRES : 'the npm registry cannot be reached'),
  () => {
    let provider: ProviderProcess;
    let world: World;
    let ann: Identity;
    let work: WorkTree;
    let token: string;
    let password = '';

    beforeAll(async () => {
      provider = await startProviderProcess('postgres', database?.url ?? '');
      world = await startWorld();
      ann = await createIdentity();
      token = await allowPush(world, ann);
      const entries = (await readdir(EXAMPLE)).filter((name) => name !== 'node_modules');
      const files = entries.map(async (name) => [name, await readFile(path.join(EXAMPLE, name), 'utf8')] as const);
      work = await createWorkTree(Object.fromEntries(await Promise.all(files)), ann);
    });

    afterAll(async () => {
      await work.dispose();
      await world.dispose();
      await ann.dispose();
      await provider.end('SIGTERM');
      await database?.dispose();
    });

    const api = (method: string, target: string, body?: object | string): Promise<HttpAnswer> =>
      world.api(method, target, {
        token,
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });

    /** The command line, as the server's owner; what it printed. */
    async function tancho(args: readonly string[], input = ''): Promise<string> {
      const { code, stdout, stderr } = await world.cli(args, { input });
      expect(code, stderr).toBe(0);
      return stdout;
    }

    async function sign(name: string): Promise<HttpAnswer> {
      return request(`http://${world.edge}`, 'POST', '/', { headers: { host: 'guestbook.localhost' }, body: name });
    }

    async function envNames(): Promise<string[]> {
      const answer = await api('GET', '/apps/guestbook/env');
      const listed = answer.json<Record<string, string> | { name: string }[]>();
      return (Array.isArray(listed) ? listed.map(({ name }) => name) : Object.keys(listed)).sort();
    }

    it('runs without a database, and says so', async () => {
      expect((await api('POST', '/apps', { name: 'guestbook', platform: 'nodejs' })).status).toBe(200);
      const pushed = await work.push(sshUrl(world, 'guestbook'));
      expect(pushed.code, pushed.stderr).toBe(0);
      const page = await world.fetchApp('guestbook');
      expect([page.status, page.text]).toEqual([503, 'No database is bound to this app.\n']);
    });

    it('is bound and serves rows', async () => {
      await tancho(['service', 'create', '-'], provider.manifest);
      expect(await tancho(['service', 'plans', 'postgres'])).toMatch(/^small +A database of its own/m);
      await tancho(['instance', 'create', 'postgres', 'guests', '--plan', 'small']);
      expect(await tancho(['instance', 'status', 'guests'])).toContain('is up');
      const bound = await tancho(['instance', 'bind', 'guests', '-a', 'guestbook']);
      for (const name of VARIABLES) expect(bound).toContain(name);
      expect(await tancho(['instance', 'info', 'guests'])).toContain('guestbook');
      expect(await envNames()).toEqual(expect.arrayContaining(VARIABLES));
      expect(await sign('Ann')).toMatchObject({ status: 201, text: 'Thank you, Ann.\n' });
      await sign('Bob');
      expect(await world.fetchApp('guestbook')).toMatchObject({ status: 200, text: 'Bob\nAnn\n' });
    });

    it('goes on while the provider is away, and after a restart of everything', async () => {
      await provider.end('SIGKILL');
      expect((await api('POST', '/apps/guestbook/restart')).status).toBe(200);
      expect((await world.fetchApp('guestbook')).text).toBe('Bob\nAnn\n');
      await provider.startAgain();
      await world.end('SIGKILL');
      await world.startAgain();
      expect((await world.fetchApp('guestbook')).text).toBe('Bob\nAnn\n');
    });

    it('loses variables and login when it is unbound', async () => {
      const [login = ''] = await logins();
      await tancho(['instance', 'unbind', 'guests', '-a', 'guestbook']);
      expect((await envNames()).filter((name) => VARIABLES.includes(name))).toEqual([]);
      expect((await world.fetchApp('guestbook')).status).toBe(503);
      expect(await roles()).not.toContain(login);
    });

    it('finds its rows again when it is bound again, by another login', async () => {
      const before = await roles();
      const bound = await api('PUT', '/services/instances/guests/guestbook');
      expect(bound.status).toBe(200);
      password = bound.json<{ PGPASSWORD: string }>().PGPASSWORD;
      expect((await world.fetchApp('guestbook')).text).toBe('Bob\nAnn\n');
      expect((await roles()).filter((name) => !before.includes(name))).toHaveLength(1);
    });

    it('keeps the password out of logs, answers and its own files', async () => {
      expect(password.length).toBeGreaterThan(30);
      const kept = await run('grep', ['-rlF', '--', password, world.home], {
        cwd: world.home,
        env: { PATH: process.env['PATH'] ?? '' },
      });
      expect(kept.stdout).toBe('');
      const answers = ['/apps/guestbook/log?lines=500', '/apps/guestbook', '/services/instances/guests', '/services'];
      for (const target of answers) expect((await api('GET', target)).text).not.toContain(password);
      for (const output of [provider.output(), world.output()]) expect(output).not.toContain(password);
    });

    it('leaves nothing behind', async () => {
      expect((await api('DELETE', '/services/instances/guests/guestbook')).status).toBe(200);
      expect((await api('DELETE', '/services/instances/guests')).status).toBe(200);
      expect((await api('DELETE', '/services/postgres')).status).toBe(204);
      expect(await roles()).toEqual([]);
      expect((await databases()).filter((name) => !name.startsWith('tancho_catalog_'))).toEqual([]);
    });

    async function rows(text: string): Promise<string[]> {
      const client = new pg.Client({ connectionString: database?.url ?? '' });
      await client.connect();
      try {
        return (await client.query<{ name: string }>(text)).rows.map(({ name }) => name);
      } finally {
        await client.end();
      }
    }

    const roles = () => rows(`SELECT rolname AS name FROM pg_roles WHERE rolname LIKE 'tancho\\_%'`);
    const databases = () =>
      rows(
        `SELECT datname AS name FROM pg_database WHERE datname LIKE 'tancho\\_%' AND datname NOT LIKE 'tancho\\_test%'`,
      );
    const logins = async () => (await roles()).filter((name) => !name.endsWith('_own'));
  },
);
