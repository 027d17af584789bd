import { expect, it } from 'vitest';
import { describeHealth } from './health.ts';

const MIB = 1024 ** 2;

it('shows versions, what is free, what waits, and what each process takes', () => {
  const startedAt = '2026-03-04T05:06:07.000Z';
  const text = describeHealth('0.1.0', {
    programs: [
      { name: 'Node.js', version: '24.1.0' },
      { name: 'git', version: '' },
    ],
    processes: [{ part: 'edge', pid: 12, memory_bytes: 63 * MIB, cpu_ms: 2_500, started_at: startedAt }],
    machine: { memory_total_bytes: 4 * MIB, memory_available_bytes: MIB, processors: 2, load: [0.5, 1, 1.25] },
    disk: { free_bytes: MIB, total_bytes: 2 * MIB, reserve_bytes: 1 },
    deploys: [{ state: 'building', count: 2 }],
    build_slots: 3,
  });
  const lines = text.split('\n').map((line) => line.trim().replace(/ {2,}/g, '  '));
  expect(lines.slice(0, 8)).toEqual([
    'Tancho:  0.1.0',
    'Node.js:  24.1.0',
    'git:  does not say',
    'Memory:  1.0 MiB of 4.0 MiB are free',
    'Load:  0.50, 1.00, 1.25 on 2 processors',
    'Disk:  1.0 MiB of 2.0 MiB are free',
    'Deploys:  2 building',
    'Builds:  3 at once at most',
  ]);
  expect(lines.at(-1)).toMatch(/^edge  12  63\.0 MiB  2\.5 s  /);
});
