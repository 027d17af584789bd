import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { volumePath } from '../../../domain/volumes/volume-host.ts';
import { until } from '../../../../test/support/until.ts';
import { volumeHostConformance } from '../conformance.ts';
import { createDirectoryVolumes } from './directory-volumes.ts';

const NOBODY = { own: async () => {} };

volumeHostConformance('directory', async () => {
  const root = await mkdtemp(join(tmpdir(), 'tancho-volumes-'));
  return {
    host: await createDirectoryVolumes({ root, sandbox: NOBODY }),
    write: (volume, bytes) => writeFile(join(root, volumePath(volume), 'file'), Buffer.alloc(bytes, 1)),
    dispose: () => rm(root, { recursive: true, force: true }),
  };
});

it('a volume is its own app to enter, and a removal that was cut off is carried on', async () => {
  const root = await mkdtemp(join(tmpdir(), 'tancho-volumes-'));
  try {
    const owned: string[] = [];
    await mkdir(join(root, '.removed-1', 'inside'), { recursive: true });
    const host = await createDirectoryVolumes({ root, sandbox: { own: async (path) => void owned.push(path) } });
    await host.create({ app: 'shop', name: 'data' });
    expect(owned).toEqual([join(root, 'shop', 'data')]);
    expect((await stat(join(root, 'shop', 'data'))).mode & 0o077).toBe(0);
    await until(async () => (await readdir(root)).join() === 'shop', { what: 'the rest of the removal' });
    await host.remove({ app: 'shop', name: 'data' });
    expect(await readdir(root)).toEqual([]);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

it('holds no more files than small ones of its size, however empty they are', async () => {
  const root = await mkdtemp(join(tmpdir(), 'tancho-volumes-'));
  try {
    const host = await createDirectoryVolumes({ root, sandbox: NOBODY });
    await host.create({ app: 'shop', name: 'data' });
    for (let file = 0; file < 300; file += 1) await writeFile(join(root, 'shop', 'data', `${file}`), '');
    expect(await host.size({ app: 'shop', name: 'data' })).toBeGreaterThanOrEqual(300 * 4096);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
