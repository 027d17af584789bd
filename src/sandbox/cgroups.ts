/**
 * Resource limits by control groups, version 2 where its controllers can be had, else version 1. One group per sandbox, below
 * `tancho`. Synchronous on purpose: these are in-kernel files, and a process must be inside its group before it runs on.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SandboxRequest } from './sandbox.ts';
import { groupCpuMs, groupMemoryBytes, type SeenUsage, type Usage, usageOfProcesses } from './usage.ts';

export const CONTROLLERS = ['memory', 'cpu', 'pids'] as const;
export type Controller = (typeof CONTROLLERS)[number];

/** Where groups are made: one base per hierarchy (version 2 has one, version 1 one per controller). */
export interface CgroupBase {
  readonly version: 1 | 2;
  readonly path: string;
  readonly controllers: readonly Controller[];
  /** What all groups of the base together weigh, relative to the 100 of what is beside it; absent: as much. */
  readonly cpuShare?: number;
}

const CPU_PERIOD_MICROS = 100_000;
const MIN_CPU_QUOTA_MICROS = 1_000;
/** File, what a group has by default, and the bounds of the kernel. */
const WEIGHT = {
  1: { file: 'cpu.shares', usual: 1_024, min: 2, max: 262_144 },
  2: { file: 'cpu.weight', usual: 100, min: 1, max: 10_000 },
} as const;
const USUAL_SHARE = 100;

/** Version 1 counts what waits in TCP connections apart; the kernel has so much of that for all (tcp_mem), and who takes it slows all others down. */
const TCP_PART = 8;

/** Pure: what to write into a group's files. */
export function limitFiles(base: CgroupBase, limits: SandboxRequest['limits']): [file: string, value: string][] {
  const files: [string, string][] = [];
  const has = (controller: Controller): boolean => base.controllers.includes(controller);
  const quota = Math.max(Math.round((limits.cpuMillis * CPU_PERIOD_MICROS) / 1000), MIN_CPU_QUOTA_MICROS);
  if (has('memory') && limits.memoryBytes > 0) {
    const bytes = `${limits.memoryBytes}`;
    if (base.version === 2) files.push(['memory.max', bytes], ['memory.swap.max', '0'], ['memory.oom.group', '1']);
    else {
      files.push(['memory.limit_in_bytes', bytes], ['memory.memsw.limit_in_bytes', bytes]);
      files.push(['memory.kmem.tcp.limit_in_bytes', `${Math.ceil(limits.memoryBytes / TCP_PART)}`]);
    }
  }
  if (has('cpu') && limits.cpuMillis > 0) {
    if (base.version === 2) files.push(['cpu.max', `${quota} ${CPU_PERIOD_MICROS}`]);
    else files.push(['cpu.cfs_period_us', `${CPU_PERIOD_MICROS}`], ['cpu.cfs_quota_us', `${quota}`]);
  }
  if (has('cpu') && limits.cpuShare !== undefined && limits.cpuShare > 0) {
    const { file, usual, min, max } = WEIGHT[base.version];
    const weight = Math.round((limits.cpuShare * usual) / USUAL_SHARE);
    files.push([file, `${Math.min(Math.max(weight, min), max)}`]);
  }
  if (has('pids') && limits.processes > 0) files.push(['pids.max', `${limits.processes}`]);
  return files;
}

/** Files a kernel may lack without the limit losing its meaning (swap accounting, TCP, group kill). */
const OPTIONAL_FILES = new Set([
  'memory.memsw.limit_in_bytes',
  'memory.kmem.tcp.limit_in_bytes',
  'memory.swap.max',
  'memory.oom.group',
]);

export class Cgroups {
  readonly #bases: readonly CgroupBase[];
  /** With the bases of earlier runs of the platform, in which processes may still live. */
  readonly #known: readonly CgroupBase[];

  constructor(bases: readonly CgroupBase[], earlier: readonly CgroupBase[] = []) {
    this.#bases = bases;
    this.#known = [...bases, ...earlier.filter(({ path }) => !bases.some((base) => base.path === path))];
  }

  get bases(): readonly CgroupBase[] {
    return this.#known.filter(({ path }) => this.#bases.some((base) => base.path === path) || existsSync(path));
  }

  get version(): 1 | 2 | null {
    return this.#bases[0]?.version ?? null;
  }

  /** Beside these, for processes of the platform that go before all that is in these. Null: the processor is not shared out by groups. */
  beside(name: string, cpuShare: number): Cgroups | null {
    const bases = this.#bases.filter(({ controllers }) => controllers.includes('cpu'));
    const own = bases.map(({ version, path }) => {
      return { version, path: `${path}-${name}`, controllers: ['cpu'] as const, cpuShare };
    });
    return own.length === 0 ? null : new Cgroups(own);
  }

  has(controller: Controller): boolean {
    return this.#bases.some((base) => base.controllers.includes(controller));
  }

  create(id: string, limits: SandboxRequest['limits']): void {
    for (const base of this.#bases) {
      makeGroup(base, groupPath(base, id));
      weigh(base);
      for (const [file, value] of limitFiles(base, limits)) {
        const path = join(groupPath(base, id), file);
        if (OPTIONAL_FILES.has(file) && !existsSync(path)) continue;
        writeFileSync(path, value);
      }
    }
  }

  join(id: string, pid: number): void {
    for (const base of this.#bases) writeFileSync(join(groupPath(base, id), 'cgroup.procs'), `${pid}`);
  }

  pids(id: string): number[] {
    const found = new Set<number>();
    for (const base of this.#known) for (const pid of pidsIn(groupPath(base, id))) found.add(pid);
    return [...found];
  }

  /** Of version 1, which counts processor time elsewhere, that of the processes that live. */
  usage(id: string, seen: SeenUsage): Usage {
    const own = this.#known.find((base) => base.version === 2 && existsSync(groupPath(base, id)));
    if (own === undefined) return usageOfProcesses(this.#pidsInOne(id), seen);
    const path = groupPath(own, id);
    const cpuMs = groupCpuMs(readOr(join(path, 'cpu.stat')));
    return seen.of(path, cpuMs, () => groupMemoryBytes(readOr(join(path, 'memory.stat'))));
  }

  /** Those of the first tree that knows any: all are the same but in the moment of a start. */
  #pidsInOne(id: string): number[] {
    for (const base of this.#known) {
      const pids = pidsIn(groupPath(base, id));
      if (pids.length > 0) return pids;
    }
    return [];
  }

  outOfMemory(id: string): boolean {
    return this.#known.some((base) => {
      if (!base.controllers.includes('memory')) return false;
      const file = base.version === 2 ? 'memory.events' : 'memory.oom_control';
      return /^oom_kill [1-9]/m.test(readOr(join(groupPath(base, id), file)));
    });
  }

  /**
   * A group can be removed only once the kernel has done with its last process, which may take a moment after a kill. This process leaves it where
   * it is in it.
   */
  async remove(id: string): Promise<void> {
    for (const base of this.#known) {
      const path = groupPath(base, id);
      if (readOr(join(path, 'cgroup.procs')).split('\n').includes(`${process.pid}`)) leaveTo(dirname(base.path));
      const deadline = Date.now() + 5_000;
      while (!removeGroup(path)) {
        if (Date.now() > deadline) throw new Error(`The control group ${path} cannot be removed: it is still busy.`);
        await delay(10);
      }
      removeGroup(base.path);
    }
  }
}

function pidsIn(path: string): number[] {
  const lines = readOr(join(path, 'cgroup.procs')).split('\n');
  return lines.filter((line) => line !== '').map(Number);
}

function groupPath(base: CgroupBase, id: string): string {
  return join(base.path, safeName(id));
}

/** The id as a file name. */
export function safeName(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, '_');
}

/** The base as a whole; a kernel that refuses that holds the limits of its groups all the same. */
function weigh(base: CgroupBase): void {
  const { cpuShare = 0 } = base;
  try {
    const all = limitFiles(base, { memoryBytes: 0, cpuMillis: 0, processes: 0, cpuShare });
    for (const [file, value] of all) writeFileSync(join(base.path, file), value);
  } catch {
    // Its last group may just have gone, and the base with it.
  }
}

/** Version 2 takes processes there at the very top only; elsewhere the group stays as long as this process. */
function leaveTo(parent: string): void {
  try {
    writeFileSync(join(parent, 'cgroup.procs'), `${process.pid}`);
  } catch {
    // Its removal says so.
  }
}

/** The base itself goes away with its last group, possibly between our two steps, hence the second attempt. */
function makeGroup(base: CgroupBase, path: string): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      mkdirSync(base.path, { recursive: true });
      if (base.version === 2) {
        const wanted = base.controllers.map((controller) => `+${controller}`).join(' ');
        writeFileSync(join(base.path, 'cgroup.subtree_control'), wanted);
      }
      mkdirSync(path, { recursive: true });
      return;
    } catch (error) {
      if (attempt >= 5 || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

/** False: busy, try again. */
function removeGroup(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return true;
    if (code === 'EBUSY' || code === 'ENOTEMPTY') return false;
    throw error;
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
