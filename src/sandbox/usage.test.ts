import { expect, it } from 'vitest';
import { cpuTicks, groupCpuMs, groupMemoryBytes, SeenUsage, usageOfProcesses } from './usage.ts';

it('reads times behind a name with spaces and parentheses', () => {
  const stat = '17 (a ) b) S 1 17 17 0 -1 4194304 1 2 3 4 50 60 7 8 20 0 1 0 12345 1000 200';
  expect(cpuTicks(stat)).toBe(125);
  expect(cpuTicks('')).toBe(0);
});

it('reads the files of a control group', () => {
  expect(groupCpuMs('usage_usec 2500\nuser_usec 1\n')).toBe(2.5);
  expect(groupMemoryBytes('anon 4096\nfile 9999\n')).toBe(4096);
  expect([groupCpuMs(''), groupMemoryBytes('')]).toEqual([0, 0]);
});

it('asks for the memory of those only that have used the processor since the round before', () => {
  const seen = new SeenUsage();
  const asked: number[] = [];
  const round = (cpuMs: number, memoryBytes: number): number => {
    seen.begin();
    return seen.of('one', cpuMs, () => (asked.push(memoryBytes), memoryBytes)).memoryBytes;
  };
  expect([round(10, 1), round(10, 2), round(20, 3), round(20, 4)]).toEqual([1, 1, 3, 3]);
  expect(asked).toEqual([1, 3]);
  seen.begin();
  // Whoever was away begins anew.
  expect(round(20, 5)).toBe(5);
});

it('sums up processes, leaving out those that are gone', () => {
  const { cpuMs, memoryBytes } = usageOfProcesses([process.pid, 2 ** 22 + 1]);
  expect(cpuMs).toBeGreaterThan(0);
  expect(memoryBytes).toBeGreaterThan(1024 ** 2);
});
