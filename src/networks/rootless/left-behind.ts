/** Ends what machines of homes have left whose note is lost, or whose home is: they are known by what they were started with. */
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { allProcesses, type ProcessFacts, sendSignal } from '../../lib/processes.ts';

/** Environment variable of the process that holds a machine: directory of its home's sandbox. */
export const MACHINE_MARK = 'TANCHO_MACHINE';
const NETNS = /^\/proc\/(\d+)\/ns\/net$/;

/** Also those of a home that is there, which begins anew. */
export async function endLeftBehind(stateDir: string): Promise<void> {
  for (const { pid } of allProcesses()) {
    const home = valueOf(wordsOf(pid, 'environ'), MACHINE_MARK);
    if (home !== null && (home === stateDir || !existsSync(home))) end(pid);
  }
  const all = allProcesses();
  for (const { pid } of all) if (isPastaOfNobody(wordsOf(pid, 'cmdline'), all)) end(pid);
}

/** Pure: whether a command is pasta for a process that is not there any more. */
export function isPastaOfNobody(words: readonly string[], all: readonly ProcessFacts[]): boolean {
  if (!basename(words[0] ?? '').startsWith('pasta')) return false;
  const holder = NETNS.exec(words[words.indexOf('--netns') + 1] ?? '')?.[1];
  return holder !== undefined && !all.some(({ pid, zombie }) => pid === Number(holder) && !zombie);
}

function valueOf(words: readonly string[], name: string): string | null {
  return words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
}

/** None of a process of others, and of one that is gone. */
function wordsOf(pid: number, file: 'environ' | 'cmdline'): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** Not those of another user. */
function end(pid: number): void {
  try {
    sendSignal(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}
