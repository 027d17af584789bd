import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SurvivesKill } from '../../../lib/survives-kill.ts';
import type { Sandbox, SandboxLevel } from '../../../sandbox/sandbox.ts';
import { QUICK_NETWORK } from '../../../../test/support/slow.ts';
import { skipFor } from '../../../../test/support/skips.ts';
import { provisionerConformance } from '../conformance.ts';
import { UNLIMITED } from '../conformance-suite.ts';
import { createProcessWorld, levelsToTest } from './provisioner-world.ts';
import { unitPaths } from './unit-record.ts';
import { itLong } from '../../../../test/support/long-cases.ts';

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

    itLong('reports a death that it cannot note on the disk', async () => {
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

    itLong('leaves alone what it is starting while it looks for what an earlier process has begun', async () => {
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

    itLong(
      'begins, and finds the other units, though processes of a unit and of an interrupted start survive KILL',
      async () => {
        let surviving: readonly string[] = [];
        const kill: Sandbox['kill'] = async (tree, signal) => {
          if (surviving.includes(tree.id)) throw new SurvivesKill(`Processes of ${tree.id} survive SIGKILL.`);
          await level.sandbox.kill(tree, signal);
        };
        const world = await createProcessWorld(level, { kill });
        try {
          const { artifact, units } = world;
          const spec = { app: 'shop', name: 'shop/0', process: 'worker', artifact, env: {}, listens: false };
          const start = (id: string): Promise<string> =>
            world.provisioner.ensure({ ...spec, id, command: 'sleep 1000', limits: UNLIMITED });
          await start('dddddddddddd');
          await start('eeeeeeeeeeee');
          const { record } = unitPaths(units, 'eeeeeeeeeeee');
          const noted = JSON.parse(readFileSync(record, 'utf8')) as object;
          mkdirSync(unitPaths(units, 'ffffffffffff').home, { recursive: true });
          surviving = ['eeeeeeeeeeee', 'ffffffffffff'];
          // As a process leaves it that is killed in the middle of a start.
          writeFileSync(record, JSON.stringify({ ...noted, state: 'starting' }));
          const again = await world.restart();
          const handles = new Map(['dddddddddddd', 'eeeeeeeeeeee'].map((id) => [id, id]));
          expect(await again.recover(handles)).toEqual(new Set(['dddddddddddd']));
          surviving = [];
          await level.sandbox.kill({ rootPid: 0, rootStart: '', id: 'eeeeeeeeeeee' }, 'SIGKILL');
          const last = await world.restart();
          expect(await last.recover(handles)).toEqual(new Set(['dddddddddddd']));
          expect(existsSync(unitPaths(units, 'ffffffffffff').directory)).toBe(false);
        } finally {
          surviving = [];
          await world.dispose();
        }
      },
    );

    itLong('begins before all that commands of a killed process have written is removed', async () => {
      const world = await createProcessWorld(level);
      const [gate, bin, path] = [join(world.home, 'gate'), join(world.home, 'bin'), process.env['PATH'] ?? ''];
      try {
        mkdirSync(bin);
        // Waits with what is removed in the background, and with nothing else.
        const wait = `case "$*" in *.removed-*) while [ -e ${bin} ] && [ ! -e ${gate} ]; do sleep 0.05; done;; esac`;
        const rm = `#!/bin/sh\n${wait}\nPATH=${path} exec rm "$@"\n`;
        writeFileSync(join(bin, 'rm'), rm, { mode: 0o755 });
        process.env['PATH'] = `${bin}:${path}`;
        const left = join(world.units, '.run', 'run-1', 'home', 'deep');
        mkdirSync(left, { recursive: true });
        writeFileSync(join(left, 'file'), 'written');
        mkdirSync(join(world.units, '.removed-00ff', 'run-2'), { recursive: true });
        const again = await world.restart();
        expect(await again.list()).toEqual([]);
        const names = readdirSync(world.units);
        expect(names.filter((name) => name.startsWith('.removed-'))).toHaveLength(2);
        expect(names).toHaveLength(2);
        writeFileSync(gate, '');
        await expect.poll(() => readdirSync(world.units), { timeout: 120_000 }).toEqual([]);
      } finally {
        process.env['PATH'] = path;
        writeFileSync(gate, '');
        await world.dispose();
      }
    });

    itLong('ends what a command has left by its root, and does not look at every process of the machine', async () => {
      const roots: number[] = [];
      const kill: Sandbox['kill'] = async (tree, signal) => {
        roots.push(tree.rootPid);
        await level.sandbox.kill(tree, signal);
      };
      const world = await createProcessWorld(level, { kill });
      try {
        const unit = { id: 'aaaaaaaaaaaa', app: 'shop', name: 'shop/0', process: 'web', artifact: world.artifact };
        const { code } = await world.provisioner.exec({
          unit: { ...unit, command: '', env: {}, listens: false, limits: UNLIMITED },
          command: 'sleep 1000 & exit 3',
          timeoutMs: 600_000,
          output: () => undefined,
          signal: new AbortController().signal,
        });
        expect(code).toBe(3);
        expect(roots.length).toBeGreaterThan(0);
        expect(roots.filter((pid) => pid === 0)).toEqual([]);
      } finally {
        await world.dispose();
      }
    });
  });
}
