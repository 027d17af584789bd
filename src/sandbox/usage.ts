/** What processes use, from the kernel's process table. */
import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { parseStat, unlessGone } from '../lib/processes.ts';

export interface Usage {
  /** Processor time since the beginning. That of processes which ended uncollected is lost where there is no control group. */
  readonly cpuMs: number;
  /** Memory of their own: what files hold in memory is not counted. */
  readonly memoryBytes: number;
}

/** Linux reports processor times in hundredths of a second, whatever the machine. */
const TICK_MS = 10;
const READ_AT_ONCE = 25;

/**
 * What was found at the last round: who has used no processor since then has taken no memory either, so that it need not be read again, which takes
 * most of the time.
 */
export class SeenUsage {
  #before = new Map<string, Usage>();
  #now = new Map<string, Usage>();

  /** To be called before each round. What was not asked for in the last one is forgotten. */
  begin(): void {
    [this.#before, this.#now] = [this.#now, new Map()];
  }

  /** `memoryBytes` is asked where the processor time is another one than before. */
  of(key: string, cpuMs: number, memoryBytes: () => number): Usage {
    const known = this.#before.get(key);
    const usage = known?.cpuMs === cpuMs ? known : { cpuMs, memoryBytes: memoryBytes() };
    this.#now.set(key, usage);
    return usage;
  }
}

/** By id. To read what many use takes long, so others have turns in between. */
export async function usageOfEach<T extends { readonly id: string }>(
  all: readonly T[],
  usageOf: (one: T) => Usage,
): Promise<Map<string, Usage>> {
  const found = new Map<string, Usage>();
  for (const [at, one] of all.entries()) {
    if (at > 0 && at % READ_AT_ONCE === 0) await setImmediate();
    found.set(one.id, usageOf(one));
  }
  return found;
}

export function usageOfProcesses(pids: readonly number[], seen = new SeenUsage()): Usage {
  let cpuMs = 0;
  let memoryBytes = 0;
  for (const pid of pids) {
    const stat = unlessGone(() => readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? '';
    // Another process may have the number, so its start is part of the key.
    const key = `${pid} ${parseStat(stat)?.start ?? ''}`;
    const usage = seen.of(key, cpuTicks(stat) * TICK_MS, () => {
      const status = unlessGone(() => readFileSync(`/proc/${pid}/status`, 'latin1')) ?? '';
      return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
    });
    cpuMs += usage.cpuMs;
    memoryBytes += usage.memoryBytes;
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

/** Pure: of the file `cpu.stat` of a control group, version 2, milliseconds. */
export function groupCpuMs(cpuStat: string): number {
  return Number(/^usage_usec (\d+)$/m.exec(cpuStat)?.[1] ?? 0) / 1000;
}

/** Pure: of the file `memory.stat` of a control group, version 2. */
export function groupMemoryBytes(memoryStat: string): number {
  return Number(/^anon (\d+)$/m.exec(memoryStat)?.[1] ?? 0);
}
