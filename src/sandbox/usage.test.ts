import { expect, it } from 'vitest';
import { cpuTicks, groupUsage, usageOfProcesses } from './usage.ts';

it('reads times behind a name with spaces and parentheses', () => {
  const stat = '17 (a ) b) S 1 17 17 0 -1 4194304 1 2 3 4 50 60 7 8 20 0 1 0 12345 1000 200';
  expect(cpuTicks(stat)).toBe(125);
  expect(cpuTicks('')).toBe(0);
});

it('reads the files of a control group', () => {
  expect(groupUsage('usage_usec 2500\nuser_usec 1\n', 'anon 4096\nfile 9999\n')).toEqual({
    cpuMs: 2.5,
    memoryBytes: 4096,
  });
  expect(groupUsage('', '')).toEqual({ cpuMs: 0, memoryBytes: 0 });
});

it('sums up processes, leaving out those that are gone', () => {
  const { cpuMs, memoryBytes } = usageOfProcesses([process.pid, 2 ** 22 + 1]);
  expect(cpuMs).toBeGreaterThan(0);
  expect(memoryBytes).toBeGreaterThan(1024 ** 2);
});
