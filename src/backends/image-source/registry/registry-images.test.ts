/** Pulls from a registry on this machine, well-behaved and not. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ImageRegistry, type ImageParts, type ImageRegistryOptions } from '../../../../test/support/image-registry.ts';
import { tarOf } from '../../../../test/support/tar-writer.ts';
import { parseImageName } from '../../../domain/deploys/image-name.ts';
import type { PulledImage } from '../../../domain/deploys/image-source.ts';
import { Failure, type FailureCause } from '../../../domain/failure.ts';
import type { SlugManifest } from '../../../domain/artifacts/slug.ts';
import { LocalArtifacts } from '../../artifact-store/local/local-artifacts.ts';
import { createRegistryImages, type RegistryImagesOptions } from './registry-images.ts';

const ONE_FILE: ImageParts = {
  layers: [[{ path: 'app', data: 'program '.repeat(10_000), mode: 0o755 }]],
  config: { Entrypoint: ['/app'] },
};
const LOGIN = { user: 'ann', password: 's3cret:with,signs' };
const NEVER = new AbortController().signal;

let slugs: string;
let registries: ImageRegistry[];
let lines: string[];

beforeEach(() => {
  slugs = mkdtempSync(join(tmpdir(), 'images-'));
  registries = [];
  lines = [];
});

afterEach(async () => {
  for (const registry of registries) await registry.close();
  rmSync(slugs, { recursive: true, force: true });
});

async function start(options: ImageRegistryOptions = {}): Promise<ImageRegistry> {
  const registry = await ImageRegistry.start(options);
  registries.push(registry);
  return registry;
}

interface Pull extends Partial<Omit<RegistryImagesOptions, 'artifacts'>> {
  readonly image?: string;
  readonly kept?: readonly string[];
  readonly signal?: AbortSignal;
  readonly deployId?: string;
}

function pull(registry: ImageRegistry, options: Pull = {}): Promise<PulledImage> {
  const { image = 'team/app:1', kept = [], signal = NEVER, deployId = 'd1', ...more } = options;
  const source = createRegistryImages({
    addresses: { allow: [], allowLoopback: true, ownPorts: () => [] },
    artifacts: new LocalArtifacts(slugs),
    logins: new Map(),
    timeoutMs: 60_000,
    arch: 'x64',
    ...more,
  });
  const name = parseImageName(`${registry.host}/${image}`);
  return source.pull(
    { app: 'shop', deployId, image: name, kept, commands: {}, logins: new Map() },
    (line) => lines.push(line),
    signal,
  );
}

async function failure(pulling: Promise<unknown>, code: FailureCause): Promise<string> {
  const error = await pulling.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error, String(error)).toBeInstanceOf(Failure);
  expect((error as Failure).code, (error as Failure).message).toBe(code);
  expect(existsSync(join(slugs, 'shop')) ? readdirSync(join(slugs, 'shop')) : []).toEqual([]);
  return `${(error as Failure).message} ${(error as Failure).hint}`;
}

const manifestOf = (id: string): SlugManifest =>
  JSON.parse(readFileSync(join(slugs, id, 'slug.json'), 'utf8')) as SlugManifest;

describe('a pull', () => {
  it('makes a slug of what the image is and says', async () => {
    const registry = await start();
    const passwd = 'root:x:0:0::/root:/bin/sh\nweb:x:33:34::/srv/web:/bin/sh\n';
    const { digest } = registry.addImage('team/app', '1', {
      layers: [
        [
          { path: 'etc/passwd', data: passwd },
          { path: 'etc/resolv.conf', type: 'symlink', target: '../run/resolv.conf' },
          { path: 'srv/web/', type: 'directory' },
          { path: 'bin/sh', data: 'sh', mode: 0o755 },
          { path: 'tmp', type: 'symlink', target: '/var/tmp' },
        ],
        [{ path: 'bin/app', data: 'app', mode: 0o755 }],
      ],
      config: {
        Entrypoint: ['/bin/app', '--name', "it's"],
        Cmd: ['a b'],
        Env: ['PATH=/bin', 'GREETING=hello = world', 'EMPTY='],
        WorkingDir: '/srv/../srv/data',
        User: 'web',
        ExposedPorts: { '8080/tcp': {}, '53/udp': {}, '90': {} },
        Volumes: { '/data/kept': {} },
        Labels: { 'tancho.healthcheck.path': '/health' },
      },
    });
    const pulled = await pull(registry);
    expect(pulled).toEqual({
      id: 'shop/d1',
      image: `${registry.host}/team/app:1@${digest}`,
      isNew: true,
      processes: { web: `/bin/app --name 'it'\\''s' 'a b'` },
      settings: {},
      volumes: {},
      bindingNames: {},
      maintenancePage: '',
      healthCheck: { path: '/health' },
      hooks: { release: [], restartBefore: [], restartAfter: [] },
    });
    expect(manifestOf('shop/d1')).toEqual({
      format: 1,
      platform: '',
      path: [],
      env: { PATH: '/bin', GREETING: 'hello = world', EMPTY: '' },
      binds: [],
      image: {
        digest,
        directory: '/srv/data',
        home: '/srv/web',
        uid: 33,
        gid: 34,
        name: 'web',
        ports: [90, 8080],
        programs: ['/bin/sh'],
      },
    });
    expect(readdirSync(join(slugs, 'shop/d1')).sort()).toEqual(['code', 'slug.json']);
    const root = join(slugs, 'shop/d1/code');
    expect(readdirSync(root).sort()).toEqual(['bin', 'data', 'dev', 'etc', 'proc', 'srv', 'sys', 'tmp']);
    expect(readlinkSync(join(root, 'etc/resolv.conf'))).toBe('/.tancho/resolv.conf');
    expect(readFileSync(join(root, 'etc/passwd'), 'utf8')).toBe(passwd);
    expect(lines.join('\n')).toMatch(/2 layers[^]*Layer 1 of 2[^]*Layer 2 of 2/);
  });

  it('knows images of Docker, layers that are not packed, and images by digest', async () => {
    const registry = await start();
    registry.addImage('team/app', '1', { ...ONE_FILE, isDocker: true });
    const plain = registry.addImage('team/app', '2', { ...ONE_FILE, isPlain: true });
    await pull(registry);
    const { image } = await pull(registry, { image: `team/app@${plain.digest}`, deployId: 'd2' });
    expect(image).toBe(`${registry.host}/team/app@${plain.digest}`);
    for (const id of ['d1', 'd2']) expect(readdirSync(join(slugs, 'shop', id, 'code'))).toContain('app');
  });

  it('takes from an index what fits this machine, and says so when nothing does', async () => {
    const registry = await start();
    const arm = registry.addImage('team/app', 'arm', { ...ONE_FILE, architecture: 'arm64' });
    const amd = registry.addImage('team/app', 'amd', ONE_FILE);
    const unknown = { blob: registry.addBlob('x', 'text/plain'), os: 'unknown', architecture: 'unknown' };
    const forArm = { blob: arm, os: 'linux', architecture: 'arm64' };
    const forAmd = { blob: amd, os: 'linux', architecture: 'amd64' };
    registry.addIndex('team/app', '1', [unknown, { blob: arm, os: 'windows', architecture: 'amd64' }, forArm, forAmd]);
    registry.addIndex('team/app', '2', [unknown, forArm]);
    expect((await pull(registry)).image).toBe(`${registry.host}/team/app:1@${amd.digest}`);
    rmSync(join(slugs, 'shop'), { recursive: true });
    expect(await failure(pull(registry, { image: 'team/app:2' }), 'invalid_source')).toMatch(/only for linux\/arm64/);
    const text = await failure(pull(registry, { image: 'team/app:arm' }), 'invalid_source');
    expect(text).toContain('is made for linux/arm64, and this machine is linux/amd64');
  });

  it('takes layers packed with zstd', async () => {
    const registry = await start();
    const { config } = JSON.parse(JSON.stringify(ONE_FILE)) as { config: object };
    const tar = tarOf([{ path: 'app', data: 'of zstd'.repeat(1_000) }]);
    const layer = registry.addBlob(zstdCompressSync(tar), 'application/vnd.oci.image.layer.v1.tar+zstd');
    const text = JSON.stringify({ os: 'linux', architecture: 'amd64', config });
    const described = registry.addBlob(text, 'application/vnd.oci.image.config.v1+json');
    registry.addManifest('team/app', '1', { schemaVersion: 2, config: described, layers: [layer] });
    await pull(registry);
    expect(readFileSync(join(slugs, 'shop/d1/code/app'), 'utf8')).toBe('of zstd'.repeat(1_000));
  });

  it('goes through an index to another one, but not for ever', async () => {
    const registry = await start();
    const amd = registry.addImage('team/app', 'amd', ONE_FILE);
    const inner = registry.addIndex('team/app', 'inner', [{ blob: amd, os: 'linux', architecture: 'amd64' }]);
    const nested = (blob: object) => ({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.index.v1+json',
      manifests: [blob],
    });
    registry.addManifest('team/app', '1', nested(inner));
    expect((await pull(registry)).image).toBe(`${registry.host}/team/app:1@${amd.digest}`);
    rmSync(join(slugs, 'shop'), { recursive: true });
    let last: object = inner;
    for (const depth of [1, 2, 3, 4]) last = registry.addManifest('team/app', `deep${depth}`, nested(last));
    expect(await failure(pull(registry, { image: 'team/app:deep4' }), 'invalid_source')).toContain('more than 3 deep');
  });

  it('brings nothing that is kept already', async () => {
    const registry = await start();
    registry.addImage('team/app', '1', ONE_FILE);
    const first = await pull(registry);
    registry.seen.length = 0;
    const again = await pull(registry, { deployId: 'd2', kept: ['shop/other', 'shop/d1', '../../etc'] });
    expect(again).toEqual({ ...first, isNew: false });
    expect(registry.paths().filter((path) => path.includes('/blobs/'))).toHaveLength(1);
    expect(readdirSync(join(slugs, 'shop'))).toEqual(['d1']);
    // What no release names may go at any time.
    expect(await pull(registry, { deployId: 'd3' })).toMatchObject({ id: 'shop/d3', isNew: true });
  });
});

describe('a registry', () => {
  it('that wants tokens gets ours, and where it sends to gets none', async () => {
    const registry = await start({ login: LOGIN, redirects: true });
    registry.addImage('team/app', '1', ONE_FILE);
    await pull(registry, { logins: new Map([[registry.host, LOGIN]]), insecure: [registry.host] });
    const given = (server: string) => registry.seen.filter((seen) => seen.server === server);
    expect(new Set(given('elsewhere').map(({ authorization }) => authorization))).toEqual(new Set(['']));
    expect(given('elsewhere')).toHaveLength(2);
    expect(given('tokens').map(({ authorization }) => authorization.split(' ')[0])).toEqual(['Basic']);
    expect(given('tokens')[0]?.path).toContain('scope=repository%3Ateam%2Fapp%3Apull');
    expect(given('registry').map(({ authorization }) => authorization)).not.toContain(
      `Basic ${Buffer.from(`${LOGIN.user}:${LOGIN.password}`).toString('base64')}`,
    );
  });

  it('that gives tokens to everybody gives us one', async () => {
    const registry = await start({ hasTokens: true });
    registry.addImage('team/app', '1', ONE_FILE);
    await pull(registry);
    expect(registry.seen.filter(({ server }) => server === 'tokens')[0]?.authorization).toBe('');
  });

  it('that wants a password gets ours, when we have one for it', async () => {
    const registry = await start({ login: LOGIN, isBasic: true });
    registry.addImage('team/app', '1', ONE_FILE);
    expect(await failure(pull(registry), 'pull_failed')).toContain('in the setting "registries"');
    expect(await failure(pull(registry, { logins: new Map([['other.example', LOGIN]]) }), 'pull_failed')).not.toContain(
      LOGIN.password,
    );
    const wrong = { user: 'ann', password: 'wrong' };
    const insecure = [registry.host];
    const reported = await failure(
      pull(registry, { logins: new Map([[registry.host, wrong]]), insecure }),
      'pull_failed',
    );
    expect(reported).toContain('Give another login');
    await pull(registry, { logins: new Map([[registry.host, LOGIN]]), insecure });
  });

  it.each([{ isBasic: true }, {}])(
    'that does not speak TLS gets no password, unless it is named (%o)',
    async (kind) => {
      const registry = await start({ login: LOGIN, ...kind });
      registry.addImage('team/app', '1', ONE_FILE);
      const logins = new Map([[registry.host, LOGIN]]);
      const reported = await failure(pull(registry, { logins, insecure: ['other.example'] }), 'pull_failed');
      expect(reported).toContain('a password is not sent without');
      expect(reported).toContain(`name ${registry.host} in the setting "images.insecure-registries"`);
      expect(new Set(registry.seen.map(({ authorization }) => authorization))).toEqual(new Set(['']));
      await pull(registry, { logins, insecure: [registry.host] });
    },
  );

  it('that does not have it says so', async () => {
    const registry = await start();
    registry.addImage('team/app', '1', ONE_FILE);
    expect(await failure(pull(registry, { image: 'team/app:9' }), 'pull_failed')).toContain('does not have it');
    expect(await failure(pull(registry, { image: 'other:1' }), 'pull_failed')).toContain('does not have it');
  });

  it('that lies is found out', async () => {
    const registry = await start();
    const { digest, layers } = registry.addImage('team/app', '1', ONE_FILE);
    const layer = layers[0]?.digest ?? '';
    for (const [fault, reported] of [
      ['lie', 'is something else'],
      ['truncate', 'sends less'],
      ['endless', 'sends more'],
    ] as const) {
      registry.faults.set(layer, fault);
      expect(await failure(pull(registry), 'pull_failed')).toContain(reported);
    }
    registry.faults.clear();
    registry.claimedDigest = `sha256:${'0'.repeat(64)}`;
    expect(await failure(pull(registry), 'pull_failed')).toContain('is something else');
    registry.claimedDigest = '';
    expect((await pull(registry, { image: `team/app@${digest}` })).isNew).toBe(true);
  });

  it('that sends on for ever, or stops sending, is left', async () => {
    const around = await start({ redirects: 'for ever' });
    around.addImage('team/app', '1', ONE_FILE);
    expect(await failure(pull(around), 'pull_failed')).toContain('sends on and on');
    const slow = await start();
    const { layers } = slow.addImage('team/app', '1', ONE_FILE);
    slow.faults.set(layers[0]?.digest ?? '', 'halt');
    expect(await failure(pull(slow, { limits: { stallMs: 200 } }), 'pull_failed')).toContain('stopped sending');
    expect(await failure(pull(slow, { timeoutMs: 300 }), 'timeout')).toContain('longer than');
  });

  it('is not called where addresses may not be, nor without encryption where they are public', async () => {
    const registry = await start();
    registry.addImage('team/app', '1', ONE_FILE);
    const addresses = { allow: [], allowLoopback: false, ownPorts: () => [] };
    expect(await failure(pull(registry, { addresses }), 'pull_failed')).toContain('may not be called');
    const own = { allow: [], allowLoopback: true, ownPorts: () => [Number(registry.host.split(':')[1])] };
    expect(await failure(pull(registry, { addresses: own }), 'pull_failed')).toContain('the platform itself');
    expect(registry.seen).toEqual([]);
    const astray = await start({ redirects: new URL('http://public.test/') });
    astray.addImage('team/app', '1', ONE_FILE);
    const resolve = async () => [{ address: '8.8.8.8', family: 4 as const }];
    const open = { allow: [], allowLoopback: true, ownPorts: () => [], resolve };
    expect(await failure(pull(astray, { addresses: open }), 'pull_failed')).toContain('without encryption');
  });

  it('is left at once by who has cancelled', async () => {
    const registry = await start();
    const { layers } = registry.addImage('team/app', '1', ONE_FILE);
    registry.faults.set(layers[0]?.digest ?? '', 'halt');
    const stop = new AbortController();
    const pulling = failure(pull(registry, { signal: stop.signal }), 'cancelled');
    await registry.halted;
    stop.abort();
    await pulling;
    await failure(pull(registry, { signal: AbortSignal.abort() }), 'cancelled');
  });

  it('is no reason to go on unpacking when who wanted it has cancelled', async () => {
    const registry = await start();
    const many = Array.from({ length: 3_000 }, (_, index) => ({
      path: `d${index % 10}/f${index}`,
      data: 'x'.repeat(600),
    }));
    registry.addImage('team/app', '1', { ...ONE_FILE, layers: [many] });
    const stop = new AbortController();
    const pulling = failure(pull(registry, { signal: stop.signal }), 'cancelled');
    const code = join(slugs, 'shop/d1/code/d3');
    await expect.poll(() => existsSync(code), { interval: 1 }).toBe(true);
    stop.abort();
    await pulling;
  });
});

describe('an image is refused', () => {
  it('that says nothing to run', async () => {
    const registry = await start();
    registry.addImage('team/app', '1', { ...ONE_FILE, config: {} });
    expect(await failure(pull(registry), 'no_process')).toContain('ENTRYPOINT');
  });

  it.each<[string, Partial<ImageParts>, RegExp]>([
    ['by an unknown user', { config: { Cmd: ['x'], User: 'ghost' } }, /"ghost" is not in its \/etc\/passwd/],
    ['of an unknown group', { config: { Cmd: ['x'], User: '1:ghosts' } }, /"ghosts" is not in its \/etc\/group/],
    ['with a command that is no list', { config: { Cmd: 'x' } }, /its Cmd is not a list/],
    ['with a command that is too long', { config: { Cmd: ['x'.repeat(40_000)] } }, /command line is too long/],
    ['with a bad label', { config: { Cmd: ['x'], Labels: { 'tancho.healthcheck.path': 'http://x' } } }, /is no path/],
    ['that leaves its root', { layers: [[{ path: '../x', data: 'x' }]] }, /leads out of its root/],
  ])('%s', async (_, parts, reported) => {
    const registry = await start();
    registry.addImage('team/app', '1', { ...ONE_FILE, ...parts });
    expect(await failure(pull(registry), 'invalid_source')).toMatch(reported);
  });

  it('with a manifest that is not one, or two at once, or too much', async () => {
    const registry = await start();
    const { layers } = registry.addImage('team/app', 'good', ONE_FILE);
    const config = registry.addBlob('{}', 'application/vnd.oci.image.config.v1+json');
    const [layer] = layers;
    const document = { schemaVersion: 2, config, layers };
    const bad: Record<string, object> = {
      schema1: { schemaVersion: 1, fsLayers: [] },
      both: { ...document, manifests: [] },
      neither: { schemaVersion: 2 },
      lying: { ...document, mediaType: 'application/vnd.oci.image.index.v1+json' },
      packed: { ...document, layers: [{ ...layer, mediaType: 'application/vnd.oci.image.layer.v1.tar+xz' }] },
      foreign: {
        ...document,
        layers: [{ ...layer, mediaType: 'application/vnd.docker.image.rootfs.foreign.diff.tar' }],
      },
      digest: { ...document, layers: [{ ...layer, digest: 'sha256:../../../etc/passwd' }] },
      size: { ...document, layers: [{ ...layer, size: -1 }] },
      large: { ...document, layers: [{ ...layer, size: 5 * 1024 ** 3 }] },
      many: { ...document, layers: Array.from({ length: 200 }, () => layer) },
      odd: { ...document, layers: [null] },
    };
    for (const [tag, manifest] of Object.entries(bad)) {
      registry.addManifest('team/app', tag, manifest);
      await failure(pull(registry, { image: `team/app:${tag}` }), 'invalid_source');
    }
    registry.addManifest('team/app', 'huge', { ...document, x: 'x'.repeat(100_000) });
    await failure(pull(registry, { image: 'team/app:huge', limits: { manifestBytes: 10_000 } }), 'pull_failed');
  });
});
