import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { SandboxLevel } from '../../../sandbox/sandbox.ts';
import { QUICK_NETWORK } from '../../../../test/support/slow.ts';
import { skipFor } from '../../../../test/support/skips.ts';
import { provisionerConformance } from '../conformance.ts';
import { UNLIMITED } from '../conformance-suite.ts';
import { createProcessWorld, levelsToTest } from './provisioner-world.ts';
import { unitPaths } from './unit-record.ts';

const LEVELS: readonly SandboxLevel[] = ['bubblewrap', 'user', 'plain'];

for (const [name, level] of await levelsToTest(LEVELS, QUICK_NETWORK)) {
  if (typeof level === 'string') {
    it(`provisioner process (${name})`, skipFor(level), () => {});
    continue;
  }
  describe(name, () => {
    afterAll(() => level.dispose());
    provisionerConformance(`process (${name})`, {
      create: () => createProcessWorld(level),
      supports: { memoryLimit: true, shell: true },
    });

    it('says what a unit has used, with what it has started', async () => {
      const world = await createProcessWorld(level);
      try {
        const { provisioner, artifact } = world;
        await provisioner.ensure({
          id: 'aaaaaaaaaaaa',
          app: 'shop',
          name: 'shop/0',
          process: 'worker',
          artifact,
          command: `node -e 'setInterval(() => {}, 1000)'`,
          env: {},
          listens: false,
          limits: UNLIMITED,
        });
        // An interpreter takes some, whatever it does.
        const used = async () => (await provisioner.usage()).get('aaaaaaaaaaaa');
        await expect.poll(async () => (await used())?.memoryBytes).toBeGreaterThan(1024 ** 2);
        await expect.poll(async () => (await used())?.cpuMs).toBeGreaterThan(0);
        await provisioner.stop('aaaaaaaaaaaa', 0);
        expect(await used()).toBeUndefined();
      } finally {
        await world.dispose();
      }
    });

    it('reports a death that it cannot note on the disk', async () => {
      const world = await createProcessWorld(level);
      try {
        const { provisioner, artifact, commands } = world;
        const id = 'cccccccccccc';
        const deaths: (number | null)[] = [];
        provisioner.onExit(({ code }) => void deaths.push(code));
        const spec = { id, app: 'shop', name: 'shop/0', process: 'web', artifact, env: {}, listens: true };
        await provisioner.ensure({ ...spec, command: commands.serve, limits: UNLIMITED });
        const address = await provisioner.ready(
          id,
          { healthCheck: null, timeoutMs: 120_000, watchMs: 0, listens: true },
          new AbortController().signal,
        );
        const { record } = unitPaths(world.units, id);
        const noted = readFileSync(record);
        rmSync(record);
        mkdirSync(join(record, 'in the way'), { recursive: true });
        await fetch(`http://${address?.host ?? ''}:${address?.port ?? 0}/crash`).catch(() => undefined);
        await expect.poll(() => deaths, { timeout: 60_000 }).toEqual([7]);
        rmSync(record, { recursive: true });
        writeFileSync(record, noted);
      } finally {
        await world.dispose();
      }
    });

    it('leaves alone what it is starting while it looks for what an earlier process has begun', async () => {
      const world = await createProcessWorld(level);
      try {
        const { provisioner, artifact } = world;
        const id = 'bbbbbbbbbbbb';
        let isStarted = false;
        const started = provisioner
          .ensure({
            ...{ id, app: 'shop', name: 'shop/0', process: 'worker', artifact, env: {}, listens: false },
            command: 'sleep 1000',
            limits: UNLIMITED,
          })
          .finally(() => (isStarted = true));
        while (!isStarted) {
          await provisioner.recover(new Map());
          await new Promise((resolve) => setImmediate(resolve));
        }
        await started;
        expect(await provisioner.recover(new Map([[id, id]]))).toEqual(new Set([id]));
        await provisioner.stop(id, 0);
        expect((await provisioner.list()).map(({ state }) => state)).toEqual(['ended']);
      } finally {
        await world.dispose();
      }
    });
  });
}
