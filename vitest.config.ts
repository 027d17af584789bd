import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
    pool: 'forks',
    // Scenarios mostly wait for processes of their own: on two cores two files at once take little longer than one.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    // The first file that needs the built program compiles it.
    hookTimeout: 180_000,
    globals: false,
  },
});
