/** Images on their way to builds, and back from them. */
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ImageRegistry, type ImageParts } from '../../../../test/support/image-registry.ts';
import { parseImageName } from '../../../domain/deploys/image-name.ts';
import { BlobCache } from './blob-cache.ts';
import { LocalArtifacts } from '../../artifact-store/local/local-artifacts.ts';
import { createRegistryImages } from './registry-images.ts';

const ONE_FILE: ImageParts = { layers: [[{ path: 'app', data: 'program' }]], config: { Entrypoint: ['/app'] } };
const BLOB = { host: 'registry', repository: 'app', digest: 'sha256:a' };
const NEVER = new AbortController().signal;

let slugs: string;
let registry: ImageRegistry;
beforeEach(async () => {
  slugs = mkdtempSync(join(tmpdir(), 'copies-'));
  registry = await ImageRegistry.start();
});
afterEach(async () => {
  await registry.close();
  rmSync(slugs, { recursive: true, force: true });
});

const start = async (): Promise<ImageRegistry> => registry;
const hexOf = (blob: { readonly digest: string } | undefined): string => (blob?.digest ?? '').replace('sha256:', '');

describe('an image', () => {
  it('brings several layers at once, and unpacks them in their order', async () => {
    const registry = await start();
    const layers = ['one', 'two', 'three', 'four', 'five'].map((text) => [{ path: 'app', data: text }]);
    const { layers: blobs } = registry.addImage('team/app', '1', { ...ONE_FILE, layers });
    registry.faults.set(blobs[0]?.digest ?? '', 'halt');
    const source = createRegistryImages({
      addresses: { allow: [], allowLoopback: true, ownPorts: () => [] },
      ...{ artifacts: new LocalArtifacts(slugs), logins: new Map<string, never>(), timeoutMs: 60_000, arch: 'x64' },
    });
    const image = parseImageName(`${registry.host}/team/app:1`);
    const pulling = source.pull(
      { app: 'shop', deployId: 'd1', image, kept: [], commands: {}, logins: new Map() },
      () => {},
      NEVER,
    );
    await registry.halted;
    const asked = (digest: string): boolean => registry.paths().some((path) => path.endsWith(digest));
    await expect.poll(() => blobs.map(({ digest }) => asked(digest))).toEqual([true, true, true, false, false]);
    registry.release();
    await pulling;
    expect(readFileSync(join(slugs, 'shop/d1/code/app'), 'utf8')).toBe('five');
  });

  it('comes with the login of who asks, before that of the settings', async () => {
    const login = { user: 'ann', password: 's3cret' };
    const closed = await ImageRegistry.start({ login });
    try {
      closed.addImage('team/app', '1', ONE_FILE);
      const wrong = new Map([[closed.host, { user: 'ann', password: 'old' }]]);
      const source = createRegistryImages({
        addresses: { allow: [], allowLoopback: true, ownPorts: () => [] },
        ...{
          artifacts: new LocalArtifacts(slugs),
          logins: wrong,
          insecure: [closed.host],
          timeoutMs: 60_000,
          arch: 'x64',
        },
      });
      const request = { app: 'shop', image: parseImageName(`${closed.host}/team/app:1`), kept: [], commands: {} };
      const pull = (deployId: string, logins: typeof wrong) =>
        source.pull({ ...request, deployId, logins }, () => {}, NEVER);
      await expect(pull('d1', new Map())).rejects.toMatchObject({ code: 'pull_failed' });
      expect((await pull('d2', new Map([[closed.host, login]]))).isNew).toBe(true);
    } finally {
      await closed.close();
    }
  });

  it('is several processes when tancho.yaml in it, or people, say so; a Procfile in it is for others', async () => {
    const yaml = 'processes: { worker: /app --work }\nhealthcheck: { path: /ok }\nvolumes: { kept: /kept }\n';
    const files = [
      { path: 'app', data: 'program' },
      { path: 'srv/tancho.yaml', data: yaml },
      { path: 'srv/Procfile', data: 'web: npm start\n' },
    ];
    const config = { Entrypoint: ['/app'], WorkingDir: '/srv' };
    registry.addImage('team/app', '1', { layers: [files], config });
    registry.addImage('team/app', '2', { layers: [files.slice(0, 1)], config });
    const source = createRegistryImages({
      addresses: { allow: [], allowLoopback: true, ownPorts: () => [] },
      ...{ artifacts: new LocalArtifacts(slugs), logins: new Map<string, never>(), timeoutMs: 60_000, arch: 'x64' },
    });
    const pull = (tag: string, deployId: string, kept: string[] = []) => {
      const image = parseImageName(`${registry.host}/team/app:${tag}`);
      const commands = { clock: '/app --clock' };
      return source.pull({ app: 'shop', deployId, image, kept, commands, logins: new Map() }, () => {}, NEVER);
    };
    const said = {
      processes: { worker: '/app --work', clock: '/app --clock' },
      healthCheck: { path: '/ok' },
      volumes: { kept: { path: '/kept' } },
    };
    expect(await pull('1', 'd1')).toMatchObject(said);
    expect(await pull('1', 'd2', ['shop/d1'])).toMatchObject({ ...said, id: 'shop/d1', isNew: false });
    expect((await pull('2', 'd3')).processes).toEqual({ web: '/app', clock: '/app --clock' });
  });

  it('copies an image as it is for builds, and what is here is not fetched again', async () => {
    const registry = await start();
    const { digest, layers } = registry.addImage('team/app', '1', ONE_FILE);
    const source = createRegistryImages({
      addresses: { allow: [], allowLoopback: true, ownPorts: () => [] },
      ...{
        artifacts: new LocalArtifacts(slugs),
        blobs: join(slugs, '.blobs'),
        logins: new Map<string, never>(),
        timeoutMs: 60_000,
        arch: 'x64',
      },
    });
    const image = parseImageName(`${registry.host}/team/app:1`);
    for (const name of ['one', 'two']) {
      const directory = join(slugs, name);
      mkdirSync(directory);
      expect(await source.copy({ image, directory, logins: new Map() }, () => {}, NEVER)).toBe(
        `${registry.host}/team/app:1@${digest}`,
      );
      const names = readdirSync(directory);
      expect(names).toEqual(expect.arrayContaining(['manifest.json', 'version', ...layers.map((blob) => hexOf(blob))]));
    }
    expect(registry.paths().filter((path) => path.includes('/blobs/'))).toHaveLength(layers.length + 1);
    registry.addImage('team/app', '2', { ...ONE_FILE, layers: [[{ path: 'app', data: 'other' }]] });
    const lying = registry.addImage('team/app', '3', { ...ONE_FILE, layers: [[{ path: 'app', data: 'lie' }]] });
    registry.faults.set(lying.layers[0]?.digest ?? '', 'lie');
    const copy = (name: string): Promise<string> => {
      mkdirSync(join(slugs, name));
      const image = parseImageName(`${registry.host}/team/app:3`);
      return source.copy({ image, directory: join(slugs, name), logins: new Map() }, () => {}, NEVER);
    };
    await expect(copy('three')).rejects.toMatchObject({ code: 'pull_failed' });
    registry.faults.clear();
    await copy('four');
    const [layer] = lying.layers;
    const bytes = readFileSync(join(slugs, 'four', hexOf(layer)));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(hexOf(layer));
  });

  it('copies no blob that came from a repository to whoever names its digest in another one', async () => {
    const login = { user: 'ann', password: 's3cret' };
    const closed = await ImageRegistry.start({ login });
    try {
      const { layers } = closed.addImage('team/secret', '1', ONE_FILE);
      const source = createRegistryImages({
        addresses: { allow: [], allowLoopback: true, ownPorts: () => [] },
        ...{ artifacts: new LocalArtifacts(slugs), blobs: join(slugs, '.blobs'), logins: new Map<string, never>() },
        ...{ insecure: [closed.host], timeoutMs: 60_000, arch: 'x64' },
      });
      const copy = async (from: string, logins: ReadonlyMap<string, typeof login>) => {
        const directory = mkdtempSync(join(slugs, 'copy-'));
        await source.copy({ image: parseImageName(from), directory, logins }, () => {}, NEVER);
        return directory;
      };
      const mine = await copy(`${closed.host}/team/secret:1`, new Map([[closed.host, login]]));
      expect(readdirSync(mine)).toContain(hexOf(layers[0]));
      // A registry of somebody else's, whose manifest names the same blobs, none of which it has.
      registry.addImage('thief/app', '1', ONE_FILE);
      for (const { digest } of layers) registry.faults.set(digest, 'lie');
      await expect(copy(`${registry.host}/thief/app:1`, new Map())).rejects.toMatchObject({ code: 'pull_failed' });
    } finally {
      await closed.close();
    }
  });

  it('unpacks what was built here, and nothing that is not what its manifest says', async () => {
    const registry = await start();
    const { layers } = registry.addImage('team/app', '1', ONE_FILE);
    const source = createRegistryImages({
      addresses: { allow: [], allowLoopback: true, ownPorts: () => [] },
      ...{ artifacts: new LocalArtifacts(slugs), logins: new Map<string, never>(), timeoutMs: 60_000, arch: 'x64' },
    });
    const directory = join(slugs, 'built');
    mkdirSync(directory);
    await source.copy(
      { image: parseImageName(`${registry.host}/team/app:1`), directory, logins: new Map() },
      () => {},
      NEVER,
    );
    const unpack = async (name: string) => {
      mkdirSync(join(slugs, name));
      return source.unpack({ directory, root: join(slugs, name) }, () => {}, NEVER);
    };
    expect((await unpack('root1')).argv.length).toBeGreaterThan(0);
    expect(readdirSync(join(slugs, 'root1'))).toContain('app');
    const layer = join(directory, hexOf(layers[0]));
    const good = readFileSync(layer);
    writeFileSync(layer, Buffer.concat([good, Buffer.alloc(1)]));
    await expect(unpack('root2')).rejects.toMatchObject({ code: 'invalid_source' });
    rmSync(layer);
    writeFileSync(join(slugs, 'elsewhere'), good);
    symlinkSync(join(slugs, 'elsewhere'), layer);
    await expect(unpack('root3')).rejects.toMatchObject({ code: 'invalid_source' });
  });
});

it('blobs that were not used for longest go when there are too many bytes', async () => {
  const directory = join(slugs, 'blobs');
  const cache = new BlobCache(directory, 2_500);
  const put = (name: string): Promise<string> =>
    cache.put(
      { ...BLOB, digest: `sha256:${name}` },
      join(slugs, `${name}-${Math.random()}`),
      async (file) => writeFileSync(file, Buffer.alloc(1_000)),
      NEVER,
    );
  for (const name of ['a', 'b']) expect(await put(name)).toBe('fetched');
  const long = new Date(Date.now() - 60_000);
  for (const name of readdirSync(directory)) utimesSync(join(directory, name), long, long);
  expect(await put('a')).toBe('kept');
  expect(await put('c')).toBe('fetched');
  await cache.prune();
  expect(readdirSync(directory)).toHaveLength(2);
  for (const name of ['a', 'c']) expect(await put(name)).toBe('kept');
});

it('who waits for a blob that another one fetches can be cancelled', async () => {
  const cache = new BlobCache(join(slugs, 'blobs'));
  const begun = Promise.withResolvers<void>();
  const fetched = Promise.withResolvers<void>();
  const slow = async (file: string): Promise<void> => {
    begun.resolve();
    await fetched.promise;
    writeFileSync(file, 'blob');
  };
  const first = cache.put(BLOB, join(slugs, 'first'), slow, NEVER);
  await begun.promise;
  const stop = new AbortController();
  const second = cache.put(BLOB, join(slugs, 'second'), slow, stop.signal);
  stop.abort(new Error('cancelled'));
  await expect(second).rejects.toThrow('cancelled');
  fetched.resolve();
  expect(await first).toBe('fetched');
});
