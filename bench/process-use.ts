/** What a process uses, as the kernel reports it (Linux). */
import { readFile } from 'node:fs/promises';
import { allProcesses, familyOf } from '../src/lib/processes.ts';

export interface Memory {
  readonly rssMb: number;
  /** Pages that several processes map are divided among them. */
  readonly pssMb: number;
}

export async function memoryOf(pid: number): Promise<Memory> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  const megabytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024;
  return { rssMb: megabytes('Rss'), pssMb: megabytes('Pss') };
}

/** Milliseconds of processor time since the process was started: user and system ticks, hundredths of a second on Linux. */
export function cpuMs(pid: number): Promise<number> {
  return ticksMs(`/proc/${pid}/stat`);
}

/** The same of one thread; the first of a process has its number. */
export function threadCpuMs(pid: number, thread: number): Promise<number> {
  return ticksMs(`/proc/${pid}/task/${thread}/stat`);
}

async function ticksMs(file: string): Promise<number> {
  const text = await readFile(file, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The process and all below it. */
export function family(pid: number): number[] {
  return familyOf(pid, allProcesses());
}
