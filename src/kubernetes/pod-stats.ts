/** Reads the summary of a kubelet. */
import { isRecord } from '../lib/is-record.ts';

export interface PodStats {
  /** Processor time of all its containers since they were started. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

export function readPodStats(text: string): ReadonlyMap<string, PodStats> {
  const parsed: unknown = JSON.parse(text);
  const pods = isRecord(parsed) && Array.isArray(parsed['pods']) ? parsed['pods'] : [];
  const stats = new Map<string, PodStats>();
  for (const pod of pods) {
    const reference = isRecord(pod) ? pod['podRef'] : null;
    if (!isRecord(pod) || !isRecord(reference) || typeof reference['uid'] !== 'string') continue;
    const containers = Array.isArray(pod['containers']) ? pod['containers'] : [];
    const sum = (part: string, field: string): number =>
      containers.reduce((total: number, one: unknown) => total + numberIn(one, part, field), 0);
    stats.set(reference['uid'], {
      cpuMs: Math.round(sum('cpu', 'usageCoreNanoSeconds') / 1_000_000),
      memoryBytes: sum('memory', 'workingSetBytes'),
    });
  }
  return stats;
}

function numberIn(container: unknown, part: string, field: string): number {
  const measured = isRecord(container) ? container[part] : null;
  const value = isRecord(measured) ? measured[field] : null;
  return typeof value === 'number' ? value : 0;
}
