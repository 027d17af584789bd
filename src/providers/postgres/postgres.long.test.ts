import { createHash } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres.ts';
import { NO_POSTGRES, skipFor } from '../../../test/support/skips.ts';
import { randomHex } from '../../lib/ids.ts';
import { bindOf, createOf, providerConformance, removalOf } from '../conformance.ts';
import { identifierOf } from '../identifier.ts';
import { createPostgresProvider, type PostgresProvider } from './postgres.ts';

const database: TestDatabase | null = await createTestDatabase();
const adminUrl = database?.url ?? '';
afterAll(() => database?.dispose());

async function query(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text, values)).rows;
  } finally {
    await client.end();
  }
}

const asAdmin = (text: string, values?: unknown[]) => query(adminUrl, text, values);

describe.each(['superuser', 'role with CREATEDB and CREATEROLE'])(
  'as %s',
  skipFor(database === null && NO_POSTGRES),
  (who) => {
    const service = `db${randomHex(8)}`;
    const role = `admin_${randomHex(8)}`;
    let url = adminUrl;
    let provider: PostgresProvider;
    const bound = async (instance: string, app?: string): Promise<string> =>
      (await provider.bind(bindOf(instance, app)))['DATABASE_URL'] ?? '';

    beforeAll(async () => {
      if (who !== 'superuser') {
        await asAdmin(`CREATE ROLE ${role} LOGIN CREATEDB CREATEROLE PASSWORD 'pass'`);
        const own = new URL(adminUrl);
        [own.username, own.password] = [role, 'pass'];
        url = own.href;
      }
      provider = await createPostgresProvider({ url, service });
    });

    afterAll(async () => {
      for (const { id } of await query(catalogUrl(), 'SELECT id FROM public.instances')) {
        await provider.remove(removalOf(String(id)));
      }
      await provider.close();
      await asAdmin(`DROP DATABASE ${identifierOf(service, 'catalog')} WITH (FORCE)`);
      if (who !== 'superuser') await asAdmin(`DROP ROLE ${role}`);
    });

    function catalogUrl(): string {
      const own = new URL(url);
      own.pathname = `/${identifierOf(service, 'catalog')}`;
      return own.href;
    }

    providerConformance(
      'medium',
      () => provider,
      () => createPostgresProvider({ url, service }),
    );

    it('a binding reads and writes, and the next one uses what it has made', async () => {
      await provider.create(createOf('one'));
      const variables = await provider.bind(bindOf('one'));
      expect(Object.keys(variables)).toEqual([
        'DATABASE_URL',
        'PGHOST',
        'PGPORT',
        'PGUSER',
        'PGPASSWORD',
        'PGDATABASE',
      ]);
      const first = variables['DATABASE_URL'] ?? '';
      await query(first, 'CREATE TABLE t (n int)');
      await query(first, 'INSERT INTO t VALUES (42)');
      const second = await bound('one', 'other.example.com');
      expect(await query(second, 'SELECT n FROM t')).toEqual([{ n: 42 }]);
      await query(second, 'ALTER TABLE t ADD COLUMN m int');
      expect(new URL(first).username).not.toBe(new URL(second).username);
      expect(new URL(first).password).not.toBe(new URL(second).password);
    });

    it('one instance cannot reach another, nor the catalog, nor read who is bound', async () => {
      await provider.create(createOf('mine'));
      await provider.create(createOf('theirs'));
      const mine = new URL(await bound('mine'));
      const theirs = new URL(await bound('theirs'));
      await query(theirs.href, 'CREATE TABLE secret (n int)');
      for (const path of [theirs.pathname, new URL(catalogUrl()).pathname]) {
        const elsewhere = new URL(mine);
        elsewhere.pathname = path;
        await expect(query(elsewhere.href, 'SELECT 1')).rejects.toThrow(/permission denied for database/);
      }
      const owner = `${theirs.pathname.slice(1)}_own`;
      await expect(query(mine.href, `SET ROLE ${owner}`)).rejects.toThrow(/permission denied/);
      await expect(query(mine.href, `ALTER DATABASE ${mine.pathname.slice(1)} CONNECTION LIMIT -1`)).rejects.toThrow(
        /must be owner/,
      );
      await expect(query(mine.href, 'SELECT rolpassword FROM pg_authid')).rejects.toThrow(/permission denied/);
      expect(await provider.openDatabases()).not.toContain(mine.pathname.slice(1));
    });

    it('unbinding ends the sessions and the login; what it had made stays', async () => {
      await provider.create(createOf('left'));
      const url = await bound('left');
      const session = new pg.Client(url);
      const ended = new Promise<string>((resolve) => session.on('error', (error: Error) => resolve(error.message)));
      await session.connect();
      await session.query('SET ROLE NONE; CREATE SCHEMA AUTHORIZATION CURRENT_USER; CREATE TABLE own AS SELECT 7 AS n');
      const schema = new URL(url).username;
      await provider.unbind(bindOf('left'));
      expect(await ended).toMatch(/terminat/);
      await session.end();
      await expect(query(url, 'SELECT 1')).rejects.toThrow(/authentication failed|not permitted|does not exist/);
      expect(await asAdmin('SELECT 1 FROM pg_roles WHERE rolname = $1', [schema])).toEqual([]);
      const again = await bound('left');
      expect(await query(again, `SELECT n FROM ${schema}.own`)).toEqual([{ n: 7 }]);
      expect(new URL(again).username).not.toBe(schema);
      await provider.unbind(bindOf('left'));
    });

    it('a login that left things in a database that is open to all can still be dropped', async () => {
      await provider.create(createOf('littering'));
      const url = new URL(await bound('littering'));
      const open = new URL(adminUrl).pathname;
      await asAdmin('CREATE SCHEMA litter');
      await asAdmin(`GRANT ALL ON SCHEMA litter TO PUBLIC; GRANT CONNECT ON DATABASE ${open.slice(1)} TO PUBLIC`);
      const there = new URL(url);
      there.pathname = open;
      await query(there.href, 'CREATE TABLE litter.t (n int)');
      await provider.unbind(bindOf('littering'));
      expect(await asAdmin('SELECT 1 FROM pg_roles WHERE rolname = $1', [url.username])).toEqual([]);
      await asAdmin('DROP SCHEMA litter CASCADE');
    });

    it('removing drops database, logins and roles, in use or not', async () => {
      await provider.create(createOf('gone'));
      const url = new URL(await bound('gone'));
      const session = new pg.Client(url.href);
      session.on('error', () => undefined);
      await session.connect();
      await provider.remove(removalOf('gone'));
      await session.end().catch(() => undefined);
      const name = url.pathname.slice(1);
      expect(await asAdmin('SELECT 1 FROM pg_database WHERE datname = $1', [name])).toEqual([]);
      expect(await asAdmin('SELECT rolname FROM pg_roles WHERE rolname LIKE $1', [`${name.slice(0, -9)}%`])).toEqual(
        [],
      );
      expect(await asAdmin('SELECT 1 FROM pg_roles WHERE rolname = $1', [url.username])).toEqual([]);
    });

    it('what a crash has cut off is finished by the repeat', async () => {
      const request = createOf('cut');
      await provider.create(request);
      const url = await bound('cut');
      const name = new URL(url).pathname.slice(1);
      await query(catalogUrl(), `UPDATE public.instances SET state = 'creating' WHERE id = 'cut'`);
      await query(
        url.replace(/^.*$/, catalogUrl()),
        `UPDATE public.bindings SET state = 'making' WHERE instance = 'cut'`,
      );
      expect(await provider.status('cut')).toBe('pending');
      await expect(provider.bind(bindOf('cut'))).rejects.toMatchObject({ code: 'not_ready' });
      await provider.create(request);
      expect(await bound('cut')).toBe(url);
      expect(await query(url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
      await query(catalogUrl(), `UPDATE public.instances SET state = 'removing' WHERE id = 'cut'`);
      await (who === 'superuser' ? asAdmin : (text: string) => query(catalogUrl(), text))(
        `DROP DATABASE ${name} WITH (FORCE)`,
      );
      expect(await provider.status('cut')).toBe('down');
      await provider.remove(removalOf('cut'));
      await expect(provider.status('cut')).rejects.toMatchObject({ code: 'unknown_instance' });
    });

    it('reports size, connections and plan', async () => {
      await provider.create(createOf('facts', { plan: 'medium' }));
      const session = new pg.Client(await bound('facts'));
      await session.connect();
      const facts = Object.fromEntries((await provider.info('facts')).map(({ label, value }) => [label, value]));
      await session.end();
      expect(facts).toMatchObject({ State: 'ready', Plan: 'medium', Connections: '1 of 60', 'Bound apps': '1' });
      expect(facts['Size']).toMatch(/^\d+ kB$/);
      expect(facts['Version']).toMatch(/^PostgreSQL \d+/);
      expect(await provider.status('facts')).toBe('up');
    });

    it('many at once get what is theirs', async () => {
      const names = Array.from({ length: 8 }, (_, at) => `crowd-${at}`);
      await Promise.all(names.map((name) => provider.create(createOf(name))));
      const apps = Array.from({ length: 12 }, (_, at) => `app-${at}.example.com`);
      const urls = await Promise.all(apps.map((app, at) => bound(names[at % 2] ?? '', app)));
      expect(new Set(urls.map((one) => new URL(one).username)).size).toBe(apps.length);
      const rows = await Promise.all(urls.map((one) => query(one, 'SELECT session_user::text AS me')));
      expect(rows.map(([row]) => row?.['me'])).toEqual(urls.map((one) => new URL(one).username));
      await Promise.all(names.map((name) => provider.remove(removalOf(name))));
    });

    it('the limit of connections holds', async () => {
      await provider.create(createOf('full'));
      const url = await bound('full');
      const sessions = Array.from({ length: 20 }, () => new pg.Client(url));
      try {
        for (const session of sessions) await session.connect();
        await expect(query(url, 'SELECT 1')).rejects.toThrow(/too many connections/);
      } finally {
        for (const session of sessions) await session.end();
      }
    });

    it('keeps apart what only looks alike, whatever the names', async () => {
      const long = 'x'.repeat(200);
      const names = [`${long}a`, `${long}b`, 'Case', 'case', `a'b"c;--`, 'ünïcode ☃', '../x', '%2e'];
      const urls = [];
      for (const name of names) {
        await provider.create(createOf(name));
        urls.push(new URL(await bound(name)).pathname);
      }
      expect(new Set(urls).size).toBe(names.length);
      expect(urls.every((path) => /^\/[a-z0-9_]{1,63}$/.test(path))).toBe(true);
    });

    it('names the place where apps reach the server, and keeps the settings of its address', async () => {
      await provider.create(createOf('far'));
      const address = `${url}?sslmode=disable`;
      const other = await createPostgresProvider({ url: address, service, appsHost: 'db.internal' });
      const variables = await other.bind(bindOf('far'));
      await other.close();
      const { port } = new URL(url);
      expect(variables).toMatchObject({ PGHOST: 'db.internal', PGPORT: port });
      expect(variables['DATABASE_URL']).toMatch(new RegExp(`@db\\.internal:${port}/\\w+\\?sslmode=disable$`));
    });

    it('goes on when its own sessions were ended', async () => {
      await provider.create(createOf('hardy'));
      await query(catalogUrl(), 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
        'tancho-provider',
      ]);
      await expect.poll(() => provider.status('hardy').catch(() => 'away')).toBe('up');
      expect(await query(await bound('hardy'), 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    });

    it('outlives a connection that breaks in the middle of its work', async () => {
      const sockets = new Set<Socket>();
      const { hostname, port } = new URL(url);
      const way = createServer((near) => {
        const far = connect(Number(port), hostname);
        for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
        near.pipe(far).pipe(near);
      });
      await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve));
      const through = new URL(url);
      through.host = `127.0.0.1:${(way.address() as AddressInfo).port}`;
      const other = await createPostgresProvider({ url: through.href, service });
      const blocker = new pg.Client({ connectionString: catalogUrl() });
      try {
        await provider.create(createOf('busy'));
        await blocker.connect();
        const lock = createHash('sha256').update('busy').digest().readInt32BE();
        await blocker.query('SELECT pg_advisory_lock(1, $1)', [lock]);
        const binding = other.bind(bindOf('busy')).catch((error: unknown) => error);
        const waiting = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'tancho-provider' AND wait_event_type = 'Lock'`;
        await expect.poll(() => query(catalogUrl(), waiting).then((rows) => rows.length)).toBe(1);
        for (const socket of sockets) socket.destroy();
        expect(await binding).toMatchObject({ code: 'unavailable' });
      } finally {
        await blocker.end();
        await other.close();
        way.close();
      }
      expect(await query(await bound('busy'), 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    });

    it('no password is in the catalog or in a statement', async () => {
      await provider.create(createOf('quiet'));
      const { password, username } = new URL(await bound('quiet'));
      const rows = await query(catalogUrl(), 'SELECT sealed FROM public.bindings WHERE login = $1', [username]);
      expect(JSON.stringify(rows)).not.toContain(password);
      const statements = await asAdmin(`SELECT query FROM pg_stat_activity WHERE application_name = 'tancho-provider'`);
      expect(JSON.stringify(statements)).not.toContain(password);
    });
  },
);

it('says what the role lacks', skipFor(database === null && NO_POSTGRES), async () => {
  const role = `weak_${randomHex(8)}`;
  await asAdmin(`CREATE ROLE ${role} LOGIN PASSWORD 'pass'`);
  const url = new URL(adminUrl);
  [url.username, url.password] = [role, 'pass'];
  await expect(createPostgresProvider({ url: url.href, service: 'x' })).rejects.toThrow(/CREATEDB and CREATEROLE/);
  await asAdmin(`DROP ROLE ${role}`);
});

it('says that nobody is there', async () => {
  const url = 'postgres://a:b@127.0.0.1:1/postgres';
  await expect(createPostgresProvider({ url, service: 'x' })).rejects.toMatchObject({ code: 'unavailable' });
});
