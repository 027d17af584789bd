/** Where the programs are that the levels are made of. */
import { findProgram } from '../lib/find-program.ts';
import type { SandboxPrograms } from './plan.ts';

export function findPrograms(path: string = process.env.PATH ?? ''): SandboxPrograms {
  const find = (name: string): string | null => findProgram(name, path);
  return {
    bwrap: find('bwrap'),
    setpriv: find('setpriv'),
    prlimit: find('prlimit'),
    env: find('env'),
    nsenter: find('nsenter'),
  };
}
