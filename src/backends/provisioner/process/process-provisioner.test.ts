import { afterAll, describe } from 'vitest';
import type { SandboxLevel } from '../../../lib/sandbox/sandbox.ts';
import { provisionerConformance } from '../conformance.ts';
import { createProcessWorld, openLevel } from './provisioner-world.ts';

const LEVELS: readonly SandboxLevel[] = ['bubblewrap', 'user', 'plain'];

for (const name of LEVELS) {
  const level = await openLevel(name);
  if (typeof level === 'string') {
    console.warn(`provisioner process (${name}) not tested: ${level}`);
    describe.skip(`provisioner process (${name})`);
    continue;
  }
  describe(name, () => {
    afterAll(() => level.dispose());
    provisionerConformance(`process (${name})`, {
      create: () => createProcessWorld(level),
      supports: { memoryLimit: true, shell: true },
    });
  });
}
