import { describe } from 'vitest';
import type { SandboxLevel } from '../../../lib/sandbox/sandbox.ts';
import { provisionerConformance } from '../conformance.ts';
import { createProcessWorld, missingLevel } from './provisioner-world.ts';

const levels: SandboxLevel[] = ['bubblewrap', 'user', 'plain'];
const missing = new Map(await Promise.all(levels.map(async (level) => [level, await missingLevel(level)] as const)));

for (const level of levels) {
  const why = missing.get(level) ?? null;
  if (why !== null) console.warn(`provisioner process at level ${level} not tested: ${why}`);
  describe.skipIf(why !== null)(level, () => {
    provisionerConformance(`process (${level})`, {
      create: () => createProcessWorld(level),
      supports: { memoryLimit: true, shell: true },
    });
  });
}
