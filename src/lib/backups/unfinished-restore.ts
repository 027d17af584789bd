/** What a home has while a restore into it is under way, and after one that was cut off: nobody starts on such a home. */
import { readdir } from 'node:fs/promises';

/** What is unpacked; nothing of it is in place. */
export const UNPACKED = '.restoring';
/** Before the name of the backup: all of it, whole and on disk, less what is in its place already. */
export const WHOLE = '.restored-';

/** Thrown by who would start on such a home, or restore another backup into it. */
export class RestoreCutOff extends Error {
  override readonly name = 'RestoreCutOff';
  readonly hint: string;

  constructor(home: string, backup: string | null) {
    super(`A restore${backup === null ? '' : ` of ${backup}`} into ${home} was cut off.`);
    this.hint = `To go on with it: tancho server restore <directory>/${backup ?? '<backup>'}`;
  }
}

/** Name of the backup that is whole and not yet in place; null: there is none. */
export function wholeIn(names: readonly string[]): string | null {
  return names.find((name) => name.startsWith(WHOLE))?.slice(WHOLE.length) ?? null;
}

/** Throws RestoreCutOff. By who has claimed the home, so that none can be under way. */
export async function demandWholeRestore(home: string): Promise<void> {
  const names = await readdir(home);
  const backup = wholeIn(names);
  if (backup !== null || names.includes(UNPACKED)) throw new RestoreCutOff(home, backup);
}
