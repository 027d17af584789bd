/** Artifacts that are pushed, to a small registry of the tests' own and, where there is one, to Debian's. */
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
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DOCKER_REGISTRY, startDockerRegistry } from '../../../../../test/support/docker-registry.ts';
import { ImageRegistry } from '../../../../../test/support/image-registry.ts';
import { NO_DOCKER_REGISTRY, skipFor } from '../../../../../test/support/skips.ts';
import { SLOW } from '../../../../../test/support/slow.ts';
import type { ImageRegistry as Registry, PublishRequest } from '../../../../domain/artifacts/image-registry.ts';
import type { SlugManifest } from '../../../../domain/artifacts/slug.ts';
import { parseImageName } from '../../../../domain/deploys/image-name.ts';
import type { ImageSource, PulledImage } from '../../../../domain/deploys/image-source.ts';
import { createAddressGuard } from '../../../../lib/guarded/address-guard.ts';
import { LocalArtifacts } from '../../../artifact-store/local/local-artifacts.ts';
import { IMAGE_LIMITS } from '../limits.ts';
import { createRegistryImages } from '../registry-images.ts';
import { createImagePushes, type ImagePushesOptions } from './image-pushes.ts';

const NEVER = new AbortController().signal;
const ADDRESSES = { allow: [], allowLoopback: true, ownPorts: () => [] };
const SOURCE = { addresses: ADDRESSES, logins: new Map<string, never>(), timeoutMs: 60_000, arch: 'x64' };
const LOGIN = { user: 'ann', password: 's3cret' };

let root: string;
let lines: string[];
let artifacts: LocalArtifacts;
/** Where bases and the images of strangers are. */
let bases: ImageRegistry;

beforeAll(async () => {
  bases = await ImageRegistry.start();
  bases.addImage('base', '1', {
    layers: [
      [
        { path: 'bin/', type: 'directory' },
        { path: 'bin/sh', data: 'a shell', mode: 0o755 },
        { path: 'etc/passwd', data: 'root:x:0:0::/root:/bin/sh\n' },
      ],
    ],
    config: { Env: ['PATH=/opt/own:/bin', 'FROM_BASE=yes', 'A=base'] },
  });
  bases.addImage('team/app', '1', {
    layers: [[{ path: 'app', data: 'program', mode: 0o755 }]],
    config: { Entrypoint: ['/app'] },
    isDocker: true,
  });
});
afterAll(() => bases.close());
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pushes-'));
  artifacts = new LocalArtifacts(join(root, 'slugs'));
  lines = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function pushes(host: string, more: Partial<ImagePushesOptions> = {}): Registry {
  return createImagePushes({
    artifacts,
    guard: createAddressGuard(ADDRESSES),
    place: `${host}/apps`,
    bases: new Map([['nodejs', `${bases.host}/base:1`]]),
    logins: new Map(),
    insecure: [],
    directory: join(root, 'way'),
    limits: { ...IMAGE_LIMITS, timeoutMs: 60_000 },
    arch: 'x64',
    ...more,
  });
}

const REQUEST: PublishRequest = {
  app: 'shop',
  artifact: 'shop/d1',
  image: '',
  processes: { web: 'sh server.sh --port $PORT', worker: 'a; b' },
  logins: new Map(),
};

function publish(registry: Registry, more: Partial<PublishRequest> = {}, signal = NEVER): Promise<string> {
  return registry.publish({ ...REQUEST, ...more }, (line) => lines.push(line), signal);
}

async function put(deploy = 'd1', more: Partial<SlugManifest> = {}, text = 'the server'): Promise<string> {
  const place = await artifacts.begin('shop', deploy);
  mkdirSync(join(place.code, 'lib'));
  writeFileSync(join(place.code, 'server.sh'), text);
  writeFileSync(join(place.code, 'lib/big'), Buffer.alloc(3_000_000, 'x'));
  symlinkSync('../server.sh', join(place.code, 'lib/link'));
  for (const name of ['server.sh', 'lib/big']) utimesSync(join(place.code, name), 1_700_000_000, 1_700_000_000);
  const manifest = {
    format: 1,
    platform: 'nodejs',
    path: ['/home/tools/bin'],
    env: { A: 'built' },
    binds: [],
  } as const;
  await artifacts.put(place, { ...manifest, ...more });
  return place.code;
}

/** As any engine would get it. */
async function pulled(
  reference: string,
  more: Partial<Parameters<typeof createRegistryImages>[0]> = {},
): Promise<PulledImage> {
  const store = new LocalArtifacts(join(root, 'pulled'));
  const source: ImageSource = createRegistryImages({ ...SOURCE, artifacts: store, ...more });
  const request = { app: 'copy', deployId: 'd1', kept: [], commands: {}, logins: new Map<string, never>() };
  return source.pull({ ...request, image: parseImageName(reference) }, () => {}, NEVER);
}

function anyRegistry(host: () => string): void {
  it('has code at its own place over its base, with what decides how it runs, under a name with its digest', async () => {
    const layer = join(root, 'cache/layer');
    mkdirSync(layer, { recursive: true });
    writeFileSync(join(layer, 'library'), 'shared', { mode: 0o600 });
    const code = await put('d1', { binds: [layer] });
    const reference = await publish(pushes(host()));
    expect(reference).toMatch(new RegExp(`^${host()}/apps/shop@sha256:[0-9a-f]{64}$`));
    const image = await pulled(reference);
    expect(image.processes).toEqual({ web: `/bin/sh -c 'exec sh server.sh --port $PORT'` });
    const files = join(root, 'pulled/copy/d1/code');
    expect(readFileSync(join(files, code, 'server.sh'), 'utf8')).toBe('the server');
    expect(readFileSync(join(files, code, 'lib/link'), 'utf8')).toBe('the server');
    expect(readFileSync(join(files, code, 'lib/big')).length).toBe(3_000_000);
    expect(readFileSync(join(files, layer, 'library'), 'utf8')).toBe('shared');
    expect(readFileSync(join(files, 'bin/sh'), 'utf8')).toBe('a shell');
    const manifest = JSON.parse(readFileSync(join(root, 'pulled/copy/d1/slug.json'), 'utf8')) as SlugManifest;
    expect(manifest.env).toMatchObject({ PATH: '/home/tools/bin:/opt/own:/bin', FROM_BASE: 'yes', A: 'built' });
    expect(manifest.image).toMatchObject({ uid: 1000, gid: 1000, directory: code });
    expect(readdirSync(join(root, 'way'))).toEqual([]);
  });

  it('equal code has equal digests, and is not sent again; other code another', async () => {
    await put();
    const registry = pushes(host());
    const first = await publish(registry);
    expect(await publish(pushes(host()))).toBe(first);
    expect(lines.at(-1)).toContain(' 0.0 MiB of it sent');
    await put('d2', {}, 'another server');
    expect(await publish(registry, { artifact: 'shop/d2' })).not.toBe(first);
  });

  it('an image is there as it is, by its own digest', async () => {
    const source = await pulled(`${bases.host}/team/app:1`);
    const digest = source.image.split('@')[1] ?? '';
    const image = { digest, directory: '/', home: '/', uid: 1000, gid: 1000, ports: [], programs: [] };
    await put('d1', { image });
    const reference = await publish(pushes(host()), { image: source.image });
    expect(reference).toBe(`${host()}/apps/shop@${digest}`);
    rmSync(join(root, 'pulled'), { recursive: true });
    expect((await pulled(reference)).image).toContain(digest);
  });

  it('an image that was built here is there as it was built', async () => {
    const place = await artifacts.begin('shop', 'd1');
    const directory = join(place.directory, 'image');
    mkdirSync(directory);
    const source = createRegistryImages({ ...SOURCE, artifacts });
    const built = { image: parseImageName(`${bases.host}/team/app:1`), logins: new Map<string, never>(), directory };
    const digest = (await source.copy(built, () => {}, NEVER)).split('@')[1] ?? '';
    const image = { digest, directory: '/', home: '/', uid: 1000, gid: 1000, ports: [], programs: [] };
    await artifacts.put(place, { format: 1, platform: 'dockerfile', path: [], env: {}, binds: [], image });
    const reference = await publish(pushes(host()));
    expect(reference).toBe(`${host()}/apps/shop@${digest}`);
    expect((await pulled(reference)).processes).toEqual({ web: '/app' });
    rmSync(directory, { recursive: true });
    await expect(publish(pushes(host()))).rejects.toMatchObject({ code: 'invalid_source' });
  });

  it('lists what is there of an app, and removes by digest or by name', async () => {
    const registry = pushes(host());
    expect(await registry.list('nobody', NEVER)).toEqual([]);
    const published: string[] = [];
    for (const deploy of ['l1', 'l2', 'l3']) {
      await put(deploy, {}, deploy);
      published.push(await publish(registry, { artifact: `shop/${deploy}` }));
    }
    const listed = async (): Promise<string[]> =>
      (await registry.list('shop', NEVER)).map(({ artifact }) => artifact).filter((name) => name.startsWith('shop/l'));
    expect(await listed()).toEqual(['shop/l1', 'shop/l2', 'shop/l3']);
    expect(await registry.withdraw({ app: 'shop', published: published[1] ?? '' }, NEVER)).toBe(true);
    await expect(pulled(published[1] ?? '')).rejects.toMatchObject({ code: 'pull_failed' });
    expect(await registry.withdraw({ app: 'shop', published: published[1] ?? '' }, NEVER)).toBe(true);
    expect(await registry.withdraw({ app: 'shop', artifact: 'shop/l3' }, NEVER)).toBe(true);
    await expect(pulled(published[2] ?? '')).rejects.toMatchObject({ code: 'pull_failed' });
    expect((await pulled(published[0] ?? '')).image).toBe(published[0]);
  });
}

describe("an artifact in a registry of the tests' own", () => {
  let registry: ImageRegistry;
  beforeEach(async () => {
    registry = await ImageRegistry.start();
  });
  afterEach(() => registry.close());

  anyRegistry(() => registry.host);

  it('is pushed again where the registry was busy, and said to be refused where it is', async () => {
    await put();
    registry.writes.faults.push({ method: 'POST', fault: 'busy' }, { method: 'PUT', fault: 'busy' });
    registry.writes.faults.push({ method: 'PUT', fault: 'break' });
    await pulled(await publish(pushes(registry.host)));
    registry.writes.faults.push({ method: 'PUT', fault: 'refuse' });
    const refused = publish(pushes(registry.host), { processes: { web: 'other' } });
    await expect(refused).rejects.toMatchObject({
      code: 'push_failed',
      hint: expect.stringContaining('in the setting "registries"') as string,
    });
  });

  it('goes in pieces when it is large, of which only what was lost is sent again', async () => {
    await put('d1', {}, 'y'.repeat(10));
    const registryOfPieces = pushes(registry.host, { pieceBytes: 100 });
    registry.writes.faults.push({ method: 'PATCH', fault: 'break' });
    await pulled(await publish(registryOfPieces));
    const pieces = registry.seen.filter(({ method }) => method === 'PATCH').length;
    const asked = registry.seen.filter(({ method, path }) => method === 'GET' && path.includes('/uploads/')).length;
    expect(pieces).toBeGreaterThan(2);
    expect(asked).toBe(1);
  });

  it('takes its base from the same registry by a word', async () => {
    await put();
    registry.addImage('base', '1', { layers: [[{ path: 'bin/sh', data: 'own shell', mode: 0o755 }]], config: {} });
    const own = new Map([['*', `${registry.host}/base:1`]]);
    const reference = await publish(pushes(registry.host, { bases: own }));
    const blobs = registry.seen.filter(({ method, path }) => method === 'GET' && path.startsWith('/v2/base/blobs/'));
    // Its configuration.
    expect(blobs).toHaveLength(1);
    await pulled(reference);
    expect(readFileSync(join(root, 'pulled/copy/d1/code/bin/sh'), 'utf8')).toBe('own shell');
  });

  it('needs a base, which an operator can name', async () => {
    await put('d1', { platform: 'php' });
    await expect(publish(pushes(registry.host))).rejects.toMatchObject({
      code: 'push_failed',
      message: expect.stringContaining('platform php') as string,
      hint: expect.stringContaining('images.base') as string,
    });
  });

  it('is built on the image that it says itself, whatever is named by now', async () => {
    const image = `${bases.host}/base:1`;
    await put('d1', {
      platform: 'php',
      base: { image, root: '/nowhere', home: '/nowhere', uid: 1001, gid: 1002, name: 'app' },
    });
    await publish(pushes(registry.host));
  });

  it('stays where a registry removes nothing, which is reported', async () => {
    await put();
    registry.writes.deletes = false;
    const published = await publish(pushes(registry.host));
    expect(await pushes(registry.host).withdraw({ app: 'shop', published }, NEVER)).toBe(false);
  });

  it('is given up when nobody waits for it any more, and nothing of it is left here', async () => {
    await put();
    const stop = new AbortController();
    const pushing = registry.seen;
    const given = publish(pushes(registry.host), {}, stop.signal);
    await expect
      .poll(() => pushing.some(({ method }) => method === 'HEAD'), { timeout: 60_000, interval: 1 })
      .toBe(true);
    stop.abort();
    await expect(given).rejects.toMatchObject({ code: 'cancelled' });
    expect(readdirSync(join(root, 'way'))).toEqual([]);
  });

  it('is gone from here: that is said, and nothing is pushed', async () => {
    await expect(publish(pushes(registry.host))).rejects.toMatchObject({ code: 'internal' });
    expect(registry.seen).toEqual([]);
  });
});

describe('a registry that asks who pushes', () => {
  it('is answered by its token server, with the login of the settings, and never without TLS unless it is said to be', async () => {
    await put();
    const registry = await ImageRegistry.start({ login: LOGIN });
    try {
      const logins = new Map([[registry.host, LOGIN]]);
      await expect(publish(pushes(registry.host, { logins }))).rejects.toMatchObject({
        code: 'push_failed',
        hint: expect.stringContaining('images.insecure-registries') as string,
      });
      const published = await publish(pushes(registry.host, { logins, insecure: [registry.host] }));
      await pulled(published, { logins, insecure: [registry.host] });
      await expect(publish(pushes(registry.host))).rejects.toMatchObject({ code: 'push_failed' });
    } finally {
      await registry.close();
    }
  });
});

const registries = SLOW ? [DOCKER_REGISTRY] : [];
describe.each(registries)(
  "an artifact in Debian's docker-registry",
  skipFor(DOCKER_REGISTRY === null && NO_DOCKER_REGISTRY),
  () => {
    let registry: Awaited<ReturnType<typeof startDockerRegistry>>;
    beforeAll(async () => {
      registry = await startDockerRegistry(DOCKER_REGISTRY ?? '');
    });
    afterAll(() => registry.close());

    anyRegistry(() => registry.host);

    it('goes in pieces when it is large', async () => {
      await put('big', {}, 'z'.repeat(50));
      await pulled(await publish(pushes(registry.host, { pieceBytes: 100 }), { artifact: 'shop/big' }));
    });
  },
);
