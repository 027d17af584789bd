/** `tancho server rollback`: the way back from an upgrade. Puts the databases as they were before it changed them in place. */
import { type BackupSet, listBackupSets, restoreBackupSet } from '../../lib/backup-sets.ts';
import { loadConfig } from '../../config/load.ts';
import type { Cli } from '../cli.ts';
import { CliError } from '../errors.ts';
import { confirm } from '../prompt.ts';
import { stopWhatServes } from './stop.ts';
import { claimedHome, demandStopped } from './stopped.ts';

const STOPPED_WITHIN_MS = 60_000;

export interface RollbackOptions {
  /** Name of a copy; absent: the newest. */
  readonly to?: string;
  readonly list: boolean;
  readonly yes: boolean;
}

export async function rollBack(cli: Cli, { to, list, yes }: RollbackOptions): Promise<void> {
  const { home } = cli.context;
  await demandSqlite(cli);
  const sets = await listBackupSets(home);
  if (list) {
    cli.show(sets, () => sets.map(describe).join('\n') || `There is no copy yet: no upgrade has changed ${home}.`);
    return;
  }
  const set = to === undefined ? sets[0] : sets.find(({ name }) => name === to);
  if (set === undefined) {
    throw new CliError(
      to === undefined ? `There is no copy to return to in ${home}.` : `There is no copy "${to}".`,
      'A copy is made before an upgrade changes a database. To see what there is: tancho server rollback --list',
    );
  }
  await demandStopped(cli);
  const question = `Return to the databases of ${describe(set)}? What has changed since is set aside, and the apps rest until that version has started.`;
  if (!yes) await confirm(cli, question, '--yes');
  // The question may have waited; what serves is not to be taken from a server that has started meanwhile.
  await demandStopped(cli);
  // An earlier version may know neither the edge of this one nor the networks of its units.
  await stopWhatServes(cli, STOPPED_WITHIN_MS);
  const release = await claimedHome(home);
  try {
    await cli.during('Returning', () => restoreBackupSet(home, set));
  } finally {
    await release();
  }
  cli.show({ restored: set.name, files: set.files }, () =>
    [
      `The databases are those of ${describe(set)} again; what they replaced is in ${home}/backups/replaced.`,
      'Now start the version that made them, and it starts the apps: git checkout <that version>, then npm start.',
    ].join('\n'),
  );
}

async function demandSqlite(cli: Cli): Promise<void> {
  const { databaseUrl } = await loadConfig(cli.context.env);
  if (databaseUrl === null) return;
  throw new CliError(
    'The state of this platform is in PostgreSQL, of which no copies are made here.',
    'Stop the server, restore the database from the backup you made before the upgrade (pg_restore), and start the version before.',
  );
}

/** `2026-11-23 16:40:00 UTC (logs.db, tancho.db; 20261123T164000123Z)`. */
function describe({ name, files }: BackupSet): string {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)/.exec(name) ?? [];
  return `${year}-${month}-${day} ${hour}:${minute}:${second} UTC (${files.join(', ')}; ${name})`;
}
