import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isDiskFull } from '../../../domain/errors.ts';
import { isAlive } from '../../../lib/processes.ts';
import type { SandboxProcess, SandboxRequest } from '../../../sandbox/sandbox.ts';
import { createProcessWorld, openLevel } from './provisioner-world.ts';

it('ends a process whose start cannot be recorded, and forgets it', async () => {
  const level = await openLevel('plain');
  if (typeof level === 'string') throw new Error(level);
  const id = 'ffffffffffff';
  let started: SandboxProcess | null = null;
  const world = await createProcessWorld(level, {
    spawn: async (request: SandboxRequest) => {
      // In the way of the next record, as a full disk would be.
      mkdirSync(join(world.units, id, 'unit.json.new'));
      return (started = await level.sandbox.spawn(request));
    },
  });
  try {
    const unit = {
      ...{ id, app: 'shop', name: 'shop/0', process: 'web', artifact: world.artifact, env: {}, listens: false },
      command: 'exec sleep 1000',
      limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
    };
    await expect(world.provisioner.ensure(unit)).rejects.toThrow(/could not be started: EISDIR/);
    const { rootPid = 0, rootStart = '' } = (started as SandboxProcess | null) ?? {};
    expect(rootPid).toBeGreaterThan(0);
    expect(isAlive(rootPid, rootStart)).toBe(false);
    expect(await world.provisioner.list()).toEqual([]);
  } finally {
    await world.dispose();
    await level.dispose();
  }
});

it('says of a unit for which there is no room that the disk is full', async () => {
  const level = await openLevel('plain');
  if (typeof level === 'string') throw new Error(level);
  const world = await createProcessWorld(level, {
    spawn: () => Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })),
  });
  try {
    const unit = {
      ...{ id: 'eeeeeeeeeeee', app: 'shop', name: 'shop/0', process: 'web' },
      ...{ artifact: world.artifact, env: {}, listens: false, command: 'exec sleep 1000' },
      limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
    };
    const thrown: unknown = await world.provisioner.ensure(unit).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: 'disk_full' });
    expect(isDiskFull(thrown)).toBe(true);
  } finally {
    await world.dispose();
    await level.dispose();
  }
});

it('begins each life of a unit without what it has written in its home and its temporary directory', async () => {
  const level = await openLevel('plain');
  if (typeof level === 'string') throw new Error(level);
  const world = await createProcessWorld(level);
  try {
    const unit = {
      ...{ id: 'dddddddddddd', app: 'shop', name: 'shop/0', process: 'web' },
      ...{ artifact: world.artifact, env: {}, listens: false },
      command: 'ls -A "$HOME" "$TMPDIR"; touch "$HOME/written" "$TMPDIR/written"; echo done',
      limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
    };
    for (const lives of [1, 2]) {
      await world.provisioner.ensure(unit);
      const ended = async (): Promise<(string | undefined)[]> =>
        (await world.provisioner.list()).map(({ state }) => state);
      await expect.poll(ended).toEqual(['ended']);
      const lines = await world.provisioner.lastLines(unit.id, 50);
      expect([lines.filter((line) => line === 'done').length, lines.includes('written')]).toEqual([lives, false]);
    }
  } finally {
    await world.dispose();
    await level.dispose();
  }
});
