import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { UnitSpec } from '../../../domain/units/provisioner.ts';
import { newSealKey, Sealer } from '../../../lib/seal.ts';
import { dropLaunch, keepLaunch, keptLaunch } from './kept-launch.ts';
import { makeUnitDirectories, unitPaths } from './unit-record.ts';

let units: string;
beforeEach(async () => {
  units = await mkdtemp(join(tmpdir(), 'launches-'));
});
afterEach(() => rm(units, { recursive: true, force: true }));

const sealer = new Sealer([newSealKey()]);
const spec: UnitSpec = {
  id: 'u1',
  app: 'shop',
  name: 'shop/0',
  process: 'web',
  artifact: 'a1',
  command: 'node server.js',
  env: { PASSWORD: 'hunter2-canary' },
  listens: true,
  limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
};

it('keeps what starts a unit, readable with the key only, until the unit is not to serve any more', async () => {
  const paths = unitPaths(units, 'u1');
  await makeUnitDirectories(paths);
  expect(await keptLaunch(paths, 'u1', sealer)).toBeNull();
  await keepLaunch(paths, spec, sealer);
  const file = join(paths.directory, 'launch.sealed');
  expect(await readFile(file, 'utf8')).not.toContain('canary');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await keptLaunch(paths, 'u1', sealer)).toEqual(spec);
  await expect(keptLaunch(paths, 'u2', sealer)).rejects.toThrow(/damaged or belongs elsewhere/);
  await dropLaunch(paths);
  expect(await keptLaunch(paths, 'u1', sealer)).toBeNull();
  await dropLaunch(paths);
});
