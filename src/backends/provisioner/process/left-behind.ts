/**
 * What processes of the platform that were killed have left in the directory of units. Files are removed in the background: what a command
 * has written may be millions of them, and nothing is served before the units are found.
 */
import { readdir, rename, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { randomHex } from '../../../lib/ids.ts';
import { bestEffort, type Logger } from '../../../lib/logger.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';

/** Homes of commands and shells, within the directory of units. */
export const ONE_OFFS = '.run';
const REMOVED = '.removed-';

/** Nothing of this name is there any more when it resolves. */
async function removeAside(units: string, name: string, logger: Logger): Promise<void> {
  const path = join(units, name);
  const isGone = await rmdir(path).then(
    () => true,
    (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT',
  );
  if (isGone) return;
  const removed = join(units, `${REMOVED}${randomHex(12)}`);
  await rename(path, removed);
  void remove(removed, logger);
}

function remove(path: string, logger: Logger): Promise<void> {
  return bestEffort(logger, 'removing what was left in the directory of units', () => removeTree(path));
}

/** Clears away what commands have left, and goes on with removals that were cut off. Nothing is mounted in there any more. */
export async function clearCommands(units: string, logger: Logger): Promise<void> {
  for (const name of await readdir(units)) if (name.startsWith(REMOVED)) void remove(join(units, name), logger);
  await removeAside(units, ONE_OFFS, logger);
}

/** Whose directories are there. */
export async function unitIds(units: string): Promise<string[]> {
  return (await readdir(units)).filter((id) => !id.startsWith(REMOVED));
}

interface Units {
  readonly units: string;
  readonly sandbox: Sandbox;
  readonly logger: Logger;
}

/** Ends what may run without a record, for nobody ever would. What cannot be ended now is left to the next start. */
export async function endUnrecorded(id: string, { units, sandbox, logger }: Units): Promise<void> {
  await bestEffort(logger, `ending unit ${id}, of which nothing is recorded,`, async () => {
    await sandbox.kill({ rootPid: 0, rootStart: '', id }, 'SIGKILL');
    await sandbox.release(id);
    await removeAside(units, id, logger);
  });
}
