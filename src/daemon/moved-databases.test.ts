import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { migrations } from '../backends/store/sql/migrations/index.ts';
import { listBackupSets } from '../lib/backup-sets.ts';
import { SILENT } from '../lib/logger.ts';
import { newSealKey, Sealer } from '../lib/seal.ts';
import { openDatabase } from '../sql/database.ts';
import { migrate } from '../sql/migrate.ts';
import { prepare } from './moved-databases.ts';

it('files that an older program made are copied before a move gives them the newest schema', async () => {
  const home = await mkdtemp(join(tmpdir(), 'tancho-moved-'));
  try {
    const all = migrations('sqlite');
    const oldest = Object.fromEntries(Object.entries(all.migrations).sort().slice(0, 1));
    const file = join(home, 'tancho.db');
    const database = await openDatabase<unknown>({ kind: 'sqlite', file, synchronous: 'NORMAL' }, SILENT);
    await migrate(database, { ...all, migrations: oldest });
    await database.close();
    await prepare({ kind: 'sqlite', directory: home }, new Sealer([newSealKey()]));
    expect(await listBackupSets(home)).toMatchObject([{ files: ['tancho.db'] }]);
    // That upgrade is over, and the next one has a set of its own.
    expect(await readdir(join(home, 'backups'))).toHaveLength(1);
  } finally {
    await rm(home, { recursive: true });
  }
});
