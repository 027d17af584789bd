/** What processes use, from the kernel's process table. */
import { readFileSync } from 'node:fs';
import { unlessGone } from '../lib/processes.ts';

export interface Usage {
  /** Processor time since the beginning. That of processes which ended uncollected is lost where there is no control group. */
  readonly cpuMs: number;
  /** Memory of their own: what files hold in memory is not counted. */
  readonly memoryBytes: number;
}

/** Linux tells processor times in hundredths of a second, whatever the machine. */
const TICK_MS = 10;

export function usageOfProcesses(pids: readonly number[]): Usage {
  let cpuMs = 0;
  let memoryBytes = 0;
  for (const pid of pids) {
    const stat = unlessGone(() => readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? '';
    const status = unlessGone(() => readFileSync(`/proc/${pid}/status`, 'latin1')) ?? '';
    cpuMs += cpuTicks(stat) * TICK_MS;
    memoryBytes += Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
  }
  return { cpuMs, memoryBytes };
}

/** Pure: of /proc/<pid>/stat the time of the process and of its children that ended. */
export function cpuTicks(stat: string): number {
  const [user, system, childUser, childSystem] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return [user, system, childUser, childSystem].reduce((sum, ticks) => sum + Number(ticks ?? 0), 0);
}

/** Pure: of the files `cpu.stat` and `memory.stat` of a control group, version 2. */
export function groupUsage(cpuStat: string, memoryStat: string): Usage {
  const micros = Number(/^usage_usec (\d+)$/m.exec(cpuStat)?.[1] ?? 0);
  return { cpuMs: micros / 1000, memoryBytes: Number(/^anon (\d+)$/m.exec(memoryStat)?.[1] ?? 0) };
}
