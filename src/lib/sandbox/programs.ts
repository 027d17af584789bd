/** Where the programs are that the levels are made of. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { Programs } from './plan.ts';

const STANDARD_DIRECTORIES = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'];

export function findPrograms(path: string = process.env.PATH ?? ''): Programs {
  const find = (name: string): string | null => findProgram(name, path);
  return {
    bwrap: find('bwrap'),
    setpriv: find('setpriv'),
    prlimit: find('prlimit'),
    env: find('env'),
    nsenter: find('nsenter'),
  };
}

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
