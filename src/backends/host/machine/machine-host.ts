/** Looks at this machine: the kernel's process table, and what programs say of themselves. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, freemem, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import type { Host, PlatformProcess } from '../../../domain/health/host.ts';
import { isRunning, readPidFile } from '../../../lib/pid-file.ts';
import { allProcesses, type ProcessFacts, readProcess, unlessGone } from '../../../lib/processes.ts';

const DEADLINE_MS = 5_000;
const OUTPUT_BYTES = 4_096;
/** Linux reports processor times in hundredths of a second, whatever the machine. */
const TICK_MS = 10;

/** `runDir`: where the parts of the platform leave their pid files. */
export function createMachineHost({ runDir }: { readonly runDir: string }): Host {
  let git: Promise<string> | null = null;
  return {
    async programs() {
      git ??= gitVersion();
      return [
        { name: 'Node.js', version: process.versions.node },
        { name: 'git', version: await git },
        { name: type(), version: release() },
      ];
    },
    async processes() {
      const self = readProcess(process.pid);
      const [edge, keeper] = [await running(join(runDir, 'edge.pid')), await running(join(runDir, 'keeper.pid'))];
      const parts: readonly (readonly [string, ProcessFacts | null])[] = [
        ['control', self],
        ['edge', edge],
        ...(edge === null ? [] : workersOf(edge)).map((worker) => ['edge worker', worker] as const),
        ['keeper', keeper],
      ];
      return parts.flatMap(([part, facts]) => (facts === null ? [] : described(part, facts)));
    },
    machine() {
      const [one = 0, five = 0, fifteen = 0] = loadavg();
      return {
        memoryTotalBytes: totalmem(),
        memoryAvailableBytes: freemem(),
        processors: availableParallelism(),
        load: [one, five, fifteen],
      };
    },
  };
}

/** Null when it does not run. */
async function running(pidFile: string): Promise<ProcessFacts | null> {
  const record = await readPidFile(pidFile).catch(() => null);
  return record !== null && (await isRunning(record)) ? readProcess(record.pid) : null;
}

/** They run the same program with the same arguments; what takes an edge's place, or stands in for control, does not. */
function workersOf(edge: ProcessFacts): ProcessFacts[] {
  const command = commandOf(edge.pid);
  return allProcesses(0).filter(
    ({ pid, parent, zombie }) => parent === edge.pid && !zombie && commandOf(pid) === command,
  );
}

function commandOf(pid: number): string {
  return unlessGone(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '';
}

/** Nothing of one that has gone meanwhile. */
function described(part: string, { pid, start }: ProcessFacts): PlatformProcess[] {
  const stat = unlessGone(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  const status = unlessGone(() => readFileSync(`/proc/${pid}/status`, 'latin1'));
  if (stat === null || status === null) return [];
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  const kilobytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
  const bootedAtMs = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1] ?? 0) * 1_000;
  const startedAt = new Date(bootedAtMs + Number(start) * TICK_MS).toISOString();
  return [{ part, pid, memoryBytes: kilobytes * 1_024, cpuMs: (user + system) * TICK_MS, startedAt }];
}

/** '' where there is none that answers. */
function gitVersion(): Promise<string> {
  return new Promise((resolve) => {
    execFile('git', ['--version'], { timeout: DEADLINE_MS, maxBuffer: OUTPUT_BYTES }, (error, output) =>
      resolve(error === null ? (/\d[\d.]*\d/.exec(output)?.[0] ?? '') : ''),
    );
  });
}
