/** The way back: from a PostgreSQL to the SQLite files of a home, with all that has changed since, and repositories that are this home's own again. */
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { type Kysely, sql } from 'kysely';
import { createBareRepos } from '../backends/git-host/bare-repos/bare-repos.ts';
import { createSqlStore } from '../backends/store/sql/index.ts';
import { writeStatePlace } from '../config/state-place.ts';
import { movedTo, STATE_MOVE } from '../domain/controls/moved-state.ts';
import { PRE_RECEIVE } from '../git-push/hook.ts';
import { keepSharedHostKey } from '../git-push/host-key.ts';
import { isThere } from '../lib/is-there.ts';
import { SILENT } from '../lib/logger.ts';
import { openSealer, type Sealer } from '../lib/seal.ts';
import { syncPath } from '../lib/sync-path.ts';
import { type CopiedTable, copyDatabase } from '../sql/copy-database.ts';
import { openDatabase } from '../sql/database.ts';
import type { Lasting } from '../sql/lasting-rows.ts';
import { homeName } from './home-name.ts';
import { FILES, LASTING, LEFT_OUT, type Move, prepare } from './moved-databases.ts';

/** Tables that are directories in a home with files: what their rows hold is written there. */
const REPOSITORIES = ['repositories', 'repository_packs'];

/** Makes the files that will be in place of the home's, empty; answers their directory. */
export async function beginFiles(home: string): Promise<string> {
  const fresh = path.join(home, 'moving');
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh, { mode: 0o700 });
  await prepare({ kind: 'sqlite', directory: fresh }, await openSealer(path.join(home, 'secret.key')));
  return fresh;
}

export async function moveToFiles({ home, url, onTable, isAhead = false }: Move): Promise<CopiedTable[]> {
  const sealer = await openSealer(path.join(home, 'secret.key'));
  await prepare({ kind: 'postgres', url }, sealer);
  await bringRepositories(home, { url, sealer });
  const fresh = isAhead ? path.join(home, 'moving') : await beginFiles(home);
  const from = await openDatabase<unknown>({ kind: 'postgres', url, poolSize: 1 }, SILENT);
  try {
    const copied = await from.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute((tx) => copyInto(fresh, tx, { onTable, ahead: isAhead ? [LASTING] : [] }));
    await putInPlace(home, fresh);
    // Other servers are refused from now on; this home still starts there until the next line has been written.
    await sql`insert into settings (key, value) values (${STATE_MOVE}, ${movedTo(homeName(home))})
      on conflict (key) do update set value = excluded.value`.execute(from.db);
    await writeStatePlace(home, { url: null, left: url });
    return copied;
  } finally {
    await from.close();
  }
}

interface Into {
  readonly onTable: Move['onTable'];
  readonly ahead: readonly Lasting[];
}

async function copyInto(fresh: string, from: Kysely<unknown>, { onTable, ahead }: Into): Promise<CopiedTable[]> {
  const without = new Set([...LEFT_OUT, ...REPOSITORIES]);
  const copied: CopiedTable[] = [];
  // It hears nothing while a table is read once more where it was written to.
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(from);
  for (const name of FILES) {
    const file = path.join(fresh, name);
    const to = await openDatabase<unknown>({ kind: 'sqlite', file, synchronous: 'FULL' }, SILENT);
    try {
      await to.db.transaction().execute(async (tx) => {
        const own = name === FILES[1] ? ahead : [];
        copied.push(...(await copyDatabase({ kind: 'postgres', from, to: tx, without, ahead: own, onTable })));
        if (name !== FILES[0]) return;
        const { rows } = await sql<{ last: number }>`select last_value as last from lease_tokens`.execute(from);
        await sql`update lease_tokens set last = ${Number(rows[0]?.last ?? 0) + 1}`.execute(tx);
        await sql`delete from settings where key = ${STATE_MOVE}`.execute(tx);
      });
      await sql`pragma wal_checkpoint(truncate)`.execute(to.db);
    } finally {
      await to.close();
    }
    await syncPath(file);
  }
  return copied;
}

/** Every repository of the rows is here whole, and a copy of nothing; so is the key that SSH clients know. */
async function bringRepositories(
  home: string,
  { url, sealer }: { readonly url: string; readonly sealer: Sealer },
): Promise<void> {
  const store = await createSqlStore({ kind: 'postgres', url }, { sealer, logger: SILENT });
  try {
    await keepSharedHostKey(path.join(home, 'ssh_host_ed25519_key'), { store, sealer });
    const local = await createBareRepos({ root: path.join(home, 'repos'), preReceive: PRE_RECEIVE, logger: SILENT });
    try {
      await (await local.sharedBy(store)).keepAll();
    } finally {
      await local.close();
    }
  } finally {
    await store.close();
  }
}

/** What lay there is kept until the next time: it is what the state was when it was moved away. */
async function putInPlace(home: string, fresh: string): Promise<void> {
  const replaced = path.join(home, 'backups', 'replaced');
  if (await isThere(path.join(home, FILES[0]))) {
    await rm(replaced, { recursive: true, force: true });
    await mkdir(replaced, { recursive: true, mode: 0o700 });
    for (const name of FILES.flatMap((file) => [`${file}-wal`, `${file}-shm`, file])) {
      await rename(path.join(home, name), path.join(replaced, name)).catch(unlessMissing);
    }
  }
  for (const name of FILES) await rename(path.join(fresh, name), path.join(home, name));
  await rm(fresh, { recursive: true, force: true });
  await syncPath(home);
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
