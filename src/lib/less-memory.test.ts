import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { takeLessMemory } from './less-memory.ts';

/** Half of what is kept lives through each collection of the young generation, which makes it grow. */
const BUSY = `
const kept = [];
for (let round = 0; round < 400; round += 1) {
  for (let n = 0; n < 2_000; n += 1) kept.push({ n, text: 'x' + n });
  if (kept.length > 200_000) kept.length = 0;
}
const { space_size } = require('node:v8').getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
console.log(space_size / 1024 ** 2);`;

it('of a process that begins anew the young generation is bounded from its first moment on', () => {
  const begun = { env: {} as NodeJS.ProcessEnv, execArgv: [] as string[] };
  takeLessMemory(begun);
  const young = (args: readonly string[]): number =>
    Number(execFileSync(process.execPath, [...args, '-e', BUSY], { env: begun.env, encoding: 'utf8' }));
  // 64 and 8 MB, and some pages more while a collection moves what is young.
  expect(young([])).toBeGreaterThan(16);
  expect(young(begun.execArgv)).toBeLessThan(16);
});

it('once is enough, and what an operator has set stays', () => {
  const env: NodeJS.ProcessEnv = { MALLOC_ARENA_MAX: '1' };
  const execArgv: string[] = [];
  for (let round = 0; round < 2; round += 1) takeLessMemory({ env, execArgv });
  expect(env).toEqual({ MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '16384' });
  expect(execArgv).toHaveLength(1);
  const own = { env: { NODE_OPTIONS: '--max-semi-space-size=16' }, execArgv: [] };
  takeLessMemory(own);
  expect(own.execArgv).toEqual([]);
});
