/** `tancho server restore`: a backup into a home that has nothing yet. Without the server: there is none. */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { BackupDamaged } from '../../lib/backups/manifest.ts';
import { NotGnuTar } from '../../lib/backups/start-tar.ts';
import { HomeNotEmpty, OtherHome, restoreBackup } from '../../lib/backups/restore-backup.ts';
import { claimHome, HomeTaken } from '../../lib/home-claim.ts';
import type { Cli } from '../cli.ts';
import { CliError } from '../errors.ts';

export async function restore(cli: Cli, backup: string): Promise<void> {
  const { home } = cli.context;
  // As the first start makes it: apps with users of their own pass through it.
  await mkdir(home, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  await mkdir(join(home, 'run'), { recursive: true, mode: 0o711 });
  const release = await claimHome(join(home, 'run', 'control.pid')).catch((error: unknown) => {
    throw error instanceof HomeTaken ? new CliError(error.message, error.hint) : error;
  });
  try {
    const manifest = await cli.during('Restoring', () => restoreBackup(home, resolve(backup)));
    const { name, madeAt, version, contents } = manifest;
    cli.show({ restored: name, madeAt, version, home, contents }, () =>
      [
        `${home} is what it was at ${madeAt} (made by version ${version}).`,
        ...Object.entries(contents).map(
          ([what, names]) => `${what}: ${names.length === 0 ? 'none' : names.join(', ')}`,
        ),
        'Bring back the files of volumes if there are any, then start the server: tancho server',
      ].join('\n'),
    );
  } catch (error) {
    throw explained(error);
  } finally {
    await release();
  }
}

function explained(error: unknown): unknown {
  if (error instanceof BackupDamaged)
    return new CliError(error.message, 'Nothing of it was put in place. Take another one.');
  if (error instanceof OtherHome)
    return new CliError(error.message, `Restore it to the same place: TANCHO_HOME=${error.home}`);
  if (error instanceof NotGnuTar)
    return new CliError(error.message, 'Install GNU tar (package tar), and see that it comes first in PATH.');
  if (error instanceof HomeNotEmpty)
    return new CliError(error.message, 'A backup is restored into an empty home: move away what is there.');
  return error;
}
