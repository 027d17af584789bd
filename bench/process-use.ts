/** What a process uses, as the kernel tells it (Linux). */
import { readdir, readFile } from 'node:fs/promises';

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

/** Milliseconds of processor time since the process was started. Clock ticks are hundredths of a second on Linux. */
export async function cpuMs(pid: number): Promise<number> {
  const { userTicks, systemTicks } = await statOf(pid);
  return (userTicks + systemTicks) * 10;
}

/** The process and all below it. */
export async function family(pid: number): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const found = await statOf(Number(name)).catch(() => null);
    if (found !== null) parents.set(Number(name), found.parent);
  }
  const members = [pid];
  for (const member of members) for (const [child, parent] of parents) if (parent === member) members.push(child);
  return members;
}

async function statOf(pid: number): Promise<{ parent: number; userTicks: number; systemTicks: number }> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(fields[1]), userTicks: Number(fields[11]), systemTicks: Number(fields[12]) };
}
