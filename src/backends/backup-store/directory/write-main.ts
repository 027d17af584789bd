/** The program that writes one backup: the job comes as JSON on standard input, the manifest goes to standard output, a problem in one line to the other. */
import { setPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import { type BackupJob, writeBackup } from '../../../lib/backups/write-backup.ts';

const NICENESS = 10;

try {
  setPriority(NICENESS);
  const job = JSON.parse(await text(process.stdin)) as BackupJob;
  process.stdout.write(JSON.stringify(await writeBackup(job)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
