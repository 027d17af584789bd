import type { HealthReport } from '../../domain/health/health.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

const bytes = Type.Integer();
/** A number that need not be whole. */
const number = Type.Unsafe<number>({ type: 'number' });
const program = Type.Object({ name: Type.String(), version: Type.String() });
const process = Type.Object({
  /** control, edge, edge worker or keeper. */
  part: Type.String(),
  pid: Type.Integer(),
  memory_bytes: bytes,
  cpu_ms: Type.Integer(),
  started_at: Type.String(),
});
const machine = Type.Object({
  memory_total_bytes: bytes,
  memory_available_bytes: bytes,
  processors: Type.Integer(),
  /** Over 1, 5 and 15 minutes. */
  load: Type.Array(number),
});
/** Free and total are -1 where they are not known. */
const disk = Type.Object({ free_bytes: bytes, total_bytes: bytes, reserve_bytes: bytes });
const waiting = Type.Object({ state: Type.String(), count: Type.Integer() });

export const health = shape(
  Type.Object({
    programs: Type.Array(program),
    processes: Type.Array(process),
    machine,
    disk,
    /** Unfinished ones, by state. */
    deploys: Type.Array(waiting),
    build_slots: Type.Integer(),
  }),
  ({ programs, processes, machine: now, space, reserveBytes, deploys, buildSlots }: HealthReport) => ({
    programs: programs.map(({ name, version }) => ({ name, version })),
    processes: processes.map(({ part, pid, memoryBytes, cpuMs, startedAt }) => ({
      part,
      pid,
      memory_bytes: memoryBytes,
      cpu_ms: cpuMs,
      started_at: startedAt,
    })),
    machine: {
      memory_total_bytes: now.memoryTotalBytes,
      memory_available_bytes: now.memoryAvailableBytes,
      processors: now.processors,
      load: [...now.load],
    },
    disk: {
      free_bytes: space?.freeBytes ?? -1,
      total_bytes: space?.totalBytes ?? -1,
      reserve_bytes: reserveBytes,
    },
    deploys: deploys.map(({ state, count }) => ({ state, count })),
    build_slots: buildSlots,
  }),
);
