/** Which processes of this machine belong to a platform: those that name its home in their command line, environment or folder. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { isAlive, readProcess } from '../../src/lib/processes.ts';
import { until } from './until.ts';

export interface Found {
  readonly pid: number;
  readonly start: string;
  readonly command: string;
}

/** Only what runs, no zombies; not this process. */
export async function processesOf(home: string): Promise<Found[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const found = await Promise.all(pids.map((pid) => look(pid, home)));
  return found.filter((process) => process !== null);
}

/** Resolves once none of them runs any more. */
export async function allGone(processes: readonly Found[], timeoutMs = 120_000): Promise<void> {
  const left = (): Found[] => processes.filter(({ pid, start }) => isAlive(pid, start));
  await until(() => left().length === 0, {
    timeoutMs,
    what: 'processes to be gone',
    detail: () => JSON.stringify(left(), null, 2),
  });
}

async function look(pid: number, home: string): Promise<Found | null> {
  const facts = readProcess(pid);
  if (facts === null || facts.zombie) return null;
  const [command, environment, folder] = await Promise.all([
    readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
    readFile(`/proc/${pid}/environ`, 'utf8').catch(() => ''),
    readlink(`/proc/${pid}/cwd`).catch(() => ''),
  ]);
  if (![command, environment, folder].some((text) => text.includes(home))) return null;
  return { pid, start: facts.start, command: command.replaceAll('\0', ' ').slice(0, 200) };
}
