/** The program that writes one backup, as dialogue.ts has it; a problem goes in one line to standard error. */
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { type BackupJob, type StateReader, writeBackup } from '../../../lib/backups/write-backup.ts';
import type { Said } from './dialogue.ts';

const NICENESS = 10;

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function nextLine(): Promise<unknown> {
  const { value, done } = await lines.next();
  if (done === true) throw new Error('the server has gone');
  return JSON.parse(value);
}

function say(said: Said): void {
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

const reader: StateReader = {
  async paths(copy) {
    say({ asks: 'paths', copy });
    return (await nextLine()) as Awaited<ReturnType<StateReader['paths']>>;
  },
  async contents(copy) {
    say({ asks: 'contents', copy });
    return (await nextLine()) as Awaited<ReturnType<StateReader['contents']>>;
  },
};

try {
  setPriority(NICENESS);
  say({ manifest: await writeBackup((await nextLine()) as BackupJob, reader) });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
process.stdin.destroy();
