/** Where a program is. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

const STANDARD_DIRECTORIES = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** Absolute; null where there is none. A name with a slash is looked for where it says. */
export function findProgram(name: string, path: string = process.env.PATH ?? ''): string | null {
  if (name.includes('/')) return isExecutable(name) ? name : null;
  const directories = [...path.split(':').filter((directory) => directory.startsWith('/')), ...STANDARD_DIRECTORIES];
  return directories.map((directory) => join(directory, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
