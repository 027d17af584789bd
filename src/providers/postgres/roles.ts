/** Roles and what they own. Everything here may be repeated after having been cut off anywhere. */
import { setTimeout as delay } from 'node:timers/promises';
import { ProviderError } from '../contract.ts';
import { literal, type PostgresServer, type Query, quoted, sqlState } from './server.ts';
import { textOf } from './catalog.ts';

const SESSIONS_MS = 10_000;
const DEPENDENTS_EXIST = '2BP01';

async function roleExists(query: Query, role: string): Promise<boolean> {
  return (await query('SELECT 1 FROM pg_roles WHERE rolname = $1', [role])).length > 0;
}

/** `options` as they follow CREATE ROLE; an existing role gets them anew. */
export async function ensureRole(query: Query, role: string, options: string): Promise<void> {
  const verb = (await roleExists(query, role)) ? 'ALTER' : 'CREATE';
  await query(`${verb} ROLE ${quoted(role)} ${options}`);
  await joinRole(query, role);
}

/** Who is no superuser acts for a role by being its member. */
async function joinRole(query: Query, role: string): Promise<void> {
  const [me] = await query('SELECT rolsuper AS super FROM pg_roles WHERE rolname = current_user');
  if (me?.['super'] !== true) await query(`GRANT ${quoted(role)} TO CURRENT_USER`);
}

/** Objects go to `heir`, privileges go away, then the role itself. */
export async function dropLogin(
  server: PostgresServer,
  query: Query,
  names: { readonly login: string; readonly heir: string; readonly database: string },
): Promise<void> {
  const { login, heir, database } = names;
  if (!(await roleExists(query, login))) return;
  await query(`ALTER ROLE ${quoted(login)} NOLOGIN`);
  await endSessions(query, login);
  const [home] = await query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
  if (home !== undefined) {
    await server.in(database, async (there) => {
      await there(`REASSIGN OWNED BY ${quoted(login)} TO ${quoted(heir)}`);
      await there(`DROP OWNED BY ${quoted(login)}`);
    });
  }
  await dropRole(server, query, login);
}

/** With what the role has left in databases that let everybody in. */
export async function dropRole(server: PostgresServer, query: Query, role: string): Promise<void> {
  const drop = (): Promise<unknown> => query(`DROP ROLE IF EXISTS ${quoted(role)}`);
  try {
    await drop();
  } catch (error) {
    if (sqlState(error) !== DEPENDENTS_EXIST) throw error;
    for (const database of await databasesWith(query, role)) {
      await server.in(database, (there) => there(`DROP OWNED BY ${quoted(role)}`));
    }
    await query(`DROP OWNED BY ${quoted(role)}`);
    await drop();
  }
}

async function databasesWith(query: Query, role: string): Promise<string[]> {
  const rows = await query(
    `SELECT DISTINCT d.datname AS name FROM pg_shdepend s JOIN pg_database d ON d.oid = s.dbid
     WHERE s.refclassid = 'pg_authid'::regclass AND s.refobjid = ${literal(quoted(role))}::regrole`,
  );
  return rows.map((row) => textOf(row, 'name'));
}

async function endSessions(query: Query, login: string): Promise<void> {
  const deadline = Date.now() + SESSIONS_MS;
  for (;;) {
    const rows = await query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [login]);
    if (rows.length === 0) return;
    if (Date.now() > deadline) throw new ProviderError('unavailable', 'Sessions of the binding do not end; ask again.');
    await delay(25);
  }
}
