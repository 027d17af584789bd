/**
 * Moves the state of a server between the SQLite files of its home and a PostgreSQL, in either direction. No server is at work meanwhile. All rows are
 * compared where they have come to, and what puts the move in force is one file, written last: until then the state is where it was.
 */
import { hostname } from 'node:os';
import path from 'node:path';
import { type Kysely, sql } from 'kysely';
import { writeStatePlace } from '../config/state-place.ts';
import { copiedFrom, STATE_MOVE, whereMoved } from '../domain/controls/moved-state.ts';
import { PlatformError } from '../domain/errors.ts';
import { SILENT } from '../lib/logger.ts';
import { ownName } from '../lib/own-name.ts';
import { openSealer } from '../lib/seal.ts';
import { type CopiedTable, copyDatabase } from '../sql/copy-database.ts';
import { openDatabase, withoutSecrets } from '../sql/database.ts';
import { homeName } from './home-name.ts';
import { type Ahead, bringLasting, FILES, LASTING, LEFT_OUT, type Move, prepare } from './moved-databases.ts';

/**
 * While the server still serves: whether it can be moved. Throws PlatformError `unavailable` where the other database cannot be had or used, or a server
 * that is alive works with another state than the one that would be moved.
 */
export async function checkMove(
  { home, url, to }: Pick<Move, 'home' | 'url' | 'to'>,
  isServing: boolean,
): Promise<void> {
  await demandOwnState({ home, url, to }, isServing);
  if (to === 'sqlite') return;
  await prepare({ kind: 'postgres', url }, await openSealer(path.join(home, 'secret.key')));
  const { db, close } = await openDatabase<unknown>({ kind: 'postgres', url, poolSize: 1 }, SILENT);
  await demandFree(db, { home, url }).finally(close);
}

/**
 * After checkMove(), while the server still serves: brings what never changes any more, so that less is left to copy while it does not. Answers
 * how many rows.
 */
export async function bringAhead(ahead: Ahead): Promise<number> {
  if (ahead.to === 'postgres') return bringLasting(ahead, ahead.home);
  const { beginFiles } = await import('./move-to-files.ts');
  return bringLasting(ahead, await beginFiles(ahead.home));
}

/** All or nothing, and in force when it resolves. Throws as checkMove(). */
export async function moveState(move: Move): Promise<CopiedTable[]> {
  if (move.to === 'postgres') return moveToPostgres(move);
  const { moveToFiles } = await import('./move-to-files.ts');
  return moveToFiles(move);
}

async function moveToPostgres({ home, url, onTable, isAhead = false }: Move): Promise<CopiedTable[]> {
  const sealer = await openSealer(path.join(home, 'secret.key'));
  for (const kind of ['sqlite', 'postgres'] as const) {
    await prepare(kind === 'postgres' ? { kind, url } : { kind, directory: home }, sealer);
  }
  const to = await openDatabase<unknown>({ kind: 'postgres', url, poolSize: 1 }, SILENT);
  try {
    const copied = await to.db.transaction().execute(async (tx) => {
      // It hears nothing while a large file is read.
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx);
      await demandFree(tx, { home, url });
      const all: CopiedTable[] = [];
      for (const name of FILES) {
        const file = path.join(home, name);
        const from = await openDatabase<unknown>({ kind: 'sqlite', file, synchronous: 'FULL' }, SILENT);
        try {
          const ahead = isAhead && name === FILES[1] ? [LASTING] : [];
          const options = { kind: 'sqlite', from: from.db, to: tx, without: LEFT_OUT, ahead, onTable } as const;
          all.push(...(await copyDatabase(options)));
          if (name === FILES[0]) await goOnWithTokens(from.db, tx);
        } finally {
          await from.close();
        }
      }
      await sql`insert into settings (key, value) values (${STATE_MOVE}, ${copiedFrom(homeName(home))})
        on conflict (key) do update set value = excluded.value`.execute(tx);
      return all;
    });
    await writeStatePlace(home, { url, left: null });
    return copied;
  } finally {
    await to.close();
  }
}

/** Nothing is in it, or a copy of this very state that is not in force. */
async function demandFree(db: Kysely<unknown>, { home, url }: Pick<Move, 'home' | 'url'>): Promise<void> {
  const { rows } = await sql<{ count: string }>`select count(*) as count from users`.execute(db);
  if (Number(rows[0]?.count) === 0) return;
  const found = await sql<{ value: string }>`select value from settings where key = ${STATE_MOVE}`.execute(db);
  const value = found.rows[0]?.value ?? '';
  const own = homeName(home);
  if (value === copiedFrom(own) || whereMoved(value) === own) return;
  throw new PlatformError('unavailable', `The database ${withoutSecrets(url)} has the state of a platform already.`, {
    hint: 'Name an empty one: createdb <name>.',
  });
}

/** Of a server that serves: that it works with the state that would be moved. Of other ones: that none is alive. */
async function demandOwnState({ home, url, to }: Pick<Move, 'home' | 'url' | 'to'>, isServing: boolean): Promise<void> {
  const file = path.join(home, FILES[0]);
  const from =
    to === 'postgres'
      ? await openDatabase<unknown>({ kind: 'sqlite', file, synchronous: 'FULL' }, SILENT)
      : await openDatabase<unknown>({ kind: 'postgres', url, poolSize: 1 }, SILENT);
  try {
    const own = `${hostname()}-${await ownName(path.join(home, 'run', 'control.name'))}`;
    const nowMs = to === 'postgres' ? sql`${Date.now()}` : sql`extract(epoch from clock_timestamp()) * 1000`;
    const { rows } = await sql<{ owner: string }>`select owner from leases
      where (key = 'control' or key like 'control:%') and expires_ms > ${nowMs}`.execute(from.db);
    const owners = rows.map(({ owner }) => owner);
    if (owners.some((owner) => owner !== own)) throw othersAlive(withoutSecrets(url));
    if (isServing && !owners.includes(own)) throw elsewhere(to === 'postgres' ? file : withoutSecrets(url));
  } finally {
    await from.close();
  }
}

function othersAlive(where: string): PlatformError {
  return new PlatformError('unavailable', `Other servers work with the state in ${where}.`, {
    hint: 'Stop them first: a home has its state for itself.',
  });
}

function elsewhere(where: string): PlatformError {
  return new PlatformError('unavailable', `The server that runs does not work with the state in ${where}.`, {
    hint: 'Give this command the settings of the server, such as TANCHO_DATABASE_URL.',
  });
}

/** Leases that are given from now on have larger ones than all before. */
async function goOnWithTokens(from: Kysely<unknown>, to: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ last: number }>`select max(last) as last from lease_tokens`.execute(from);
  await sql`select setval('lease_tokens', ${Number(rows[0]?.last ?? 0) + 1})`.execute(to);
}
