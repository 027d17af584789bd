/** Sums up the memory that processes have for themselves, for machines without memory control groups. */
import { readFileSync } from 'node:fs';

export function memoryUse(pids: readonly number[]): number {
  let kilobytes = 0;
  for (const pid of pids) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'latin1');
      kilobytes += Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
    } catch {
      continue;
    }
  }
  return kilobytes * 1024;
}
