/**
 * Code that is built on an image: the build, its units here and an image that is pushed and pulled again see the very same files. With
 * real sandboxes, on a base that has nothing of this machine.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BuilderWorld, builderWorld } from '../../../../../test/support/builder-world.ts';
import { DOCKER_REGISTRY, startDockerRegistry } from '../../../../../test/support/docker-registry.ts';
import { ImageRegistry } from '../../../../../test/support/image-registry.ts';
import { skipFor } from '../../../../../test/support/skips.ts';
import { treeOf } from '../../../../../test/support/source-trees.ts';
import { firstSign, type Language } from '../../../../build-plan/language.ts';
import type { Artifact } from '../../../../domain/deploys/builder.ts';
import { parseImageName } from '../../../../domain/deploys/image-name.ts';
import type { UnitSpec } from '../../../../domain/units/provisioner.ts';
import { SILENT } from '../../../../lib/logger.ts';
import { probeSandbox } from '../../../../sandbox/probe.ts';
import type { Sandbox } from '../../../../sandbox/sandbox.ts';
import { MemoryArtifacts } from '../../../artifact-store/memory/memory-artifacts.ts';
import { createRegistryImages } from '../../../image-source/registry/registry-images.ts';
import { createRegistryPushes } from '../../../image-source/registry/registry-pushes.ts';
import { createProcessProvisioner } from '../../../provisioner/process/process-provisioner.ts';

const NEVER = new AbortController().signal;
const BUSYBOX = ['/bin/busybox', '/usr/bin/busybox'].find((file) => existsSync(file));
const ADDRESSES = { allow: [], allowLoopback: true, ownPorts: () => [] };
const NO_LIMITS = { memoryBytes: 0, cpuMillis: 0, processes: 0 };
const home = mkdtempSync(join(tmpdir(), 'tancho-bases-'));
chmodSync(home, 0o711);
const sandbox: Sandbox = await probeSandbox({ stateDir: join(home, 'state'), home, level: 'auto' });
const missing =
  (BUSYBOX === undefined && 'there is no /bin/busybox (install the package busybox-static)') ||
  (!sandbox.roots && sandbox.description);

/** Its one tool prints the version that the base has in a file. */
const PLAIN: Language = {
  name: 'plain',
  description: 'for tests',
  example: 'sh run.sh',
  signs: ['run.sh'],
  tools: [{ program: 'tell', version: [], runtime: true, install: { apk: 'apk add tell' } }],
  detect: (files) => firstSign(files, { manifest: ['run.sh'] }),
  plan: () =>
    Promise.resolve({
      title: 'plain',
      tools: PLAIN.tools,
      dependencies: [],
      steps: [{ name: 'make', run: ['cp', 'run.sh', 'copy.sh'] }],
      processes: { web: { command: 'sh run.sh', from: 'run.sh' } },
    }),
};

/** Of a tool that this machine has, and the base not. */
const LACKING: Language = {
  ...PLAIN,
  name: 'lacking',
  signs: ['lack.sh'],
  tools: [{ program: 'node', install: { apk: 'apk add nodejs' } }],
  detect: (files) => firstSign(files, { manifest: ['lack.sh'] }),
  plan: () =>
    Promise.resolve({
      title: 'lacking',
      tools: LACKING.tools,
      dependencies: [],
      steps: [],
      processes: { web: { command: 'sh lack.sh', from: 'lack.sh' } },
    }),
};

/** What a process sees of where it is. */
const LOOK =
  'cat /etc/name; pwd; whoami; id -u; ls / | tr "\\n" " "; echo; echo "$OF_BASE"; test -w /var/tmp && echo may write';
const FILES = {
  'run.sh': `${LOOK}\ncat seen\n`,
  'tancho.yaml': `hooks: { build: [${JSON.stringify(`( ${LOOK} ) > seen; test ! -e ${home}/state; touch /bin/x 2>/dev/null && exit 1; exit 0`)}] }\n`,
};

describe('code that is built on an image', skipFor(missing), () => {
  let world: BuilderWorld;
  let bases: ImageRegistry;
  beforeAll(async () => {
    bases = await ImageRegistry.start();
    const applets = ['sh', 'cat', 'cp', 'id', 'ls', 'pwd', 'whoami', 'tr', 'echo', 'test', 'touch', 'sleep', 'env'];
    const entries = [
      { path: 'bin/busybox', data: readFileSync(BUSYBOX ?? ''), mode: 0o755 },
      ...applets.map((name) => ({ path: `bin/${name}`, type: 'symlink' as const, target: 'busybox' })),
      { path: 'bin/tell', data: '#!/bin/sh\ncat /etc/version\n', mode: 0o755 },
      { path: 'etc/passwd', data: 'root:x:0:0::/root:/bin/sh\n' },
      { path: 'etc/name', data: 'the base\n' },
      { path: 'etc/version', data: '7.7.7\n' },
      { path: 'root', type: 'directory' as const, mode: 0o700 },
    ];
    bases.addImage('base', '1', {
      layers: [entries],
      config: { Cmd: ['/bin/sh'], Env: ['PATH=/opt/more:/bin', 'OF_BASE=yes'] },
    });
  });
  beforeEach(async () => {
    const images = createRegistryImages({ ...common(), artifacts: new MemoryArtifacts(), blobs: join(home, 'blobs') });
    const names = new Map([['*', `${bases.host}/base:1`]]);
    // Not below /tmp, which processes of images have for themselves.
    world = await builderWorld([PLAIN, LACKING], { more: { sandbox, images }, bases: names, parent: '/var/lib' });
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') console.log(world.lines.join('\n'));
    await world.dispose();
  });
  afterAll(async () => {
    await bases.close();
    await sandbox.close();
    rmSync(home, { recursive: true, force: true });
  });

  const common = () => ({
    addresses: ADDRESSES,
    logins: new Map<string, never>(),
    insecure: [],
    timeoutMs: 120_000,
    roots: null,
  });
  const build = (files: Record<string, string> = FILES): Promise<Artifact> =>
    world.build({ platform: 'plain', source: treeOf(files) });

  /** The output of a unit that ends by itself. */
  async function output(artifact: string, command: string): Promise<string[]> {
    const provisioner = await createProcessProvisioner({
      ...{ sandbox, artifacts: world.artifacts, units: join(world.home, 'units'), logger: SILENT },
    });
    const unit: UnitSpec = {
      ...{ id: 'aaaaaaaaaaaa', app: 'shop', name: 'shop/0', process: 'web', artifact, command, env: {} },
      ...{ listens: false, limits: NO_LIMITS },
    };
    let text = '';
    const take = (bytes: Uint8Array): void => void (text += Buffer.from(bytes).toString());
    try {
      const { code } = await provisioner.exec({ unit, command, output: take, signal: NEVER, timeoutMs: 60_000 });
      expect(code, text).toBe(0);
      return text.trim().split('\n');
    } finally {
      await provisioner.close();
    }
  }

  it('is built with its programs, as its user, and sees nothing of the machine; units see the same', async () => {
    const artifact = await build();
    expect(world.lines.join('\n')).toContain('tell 7.7.7');
    const manifest = await world.manifest(artifact);
    expect(manifest.base?.image).toMatch(/base:1@sha256:[0-9a-f]{64}$/);
    expect(manifest).toMatchObject({ env: { OF_BASE: 'yes' }, path: ['/opt/more'], base: { uid: 1000, name: 'app' } });
    const seen = readFileSync(world.code(artifact, 'seen'), 'utf8').trim().split('\n');
    expect(seen.slice(0, 4)).toEqual(['the base', world.code(artifact).replace(/\/$/, ''), 'app', '1000']);
    expect(seen[4]?.split(' ')).not.toContain('usr');
    expect(seen.slice(5)).toEqual(['yes', 'may write']);
    const all = await output(artifact.id, 'sh run.sh');
    expect(all.slice(0, 4)).toEqual(seen.slice(0, 4));
    expect(all.slice(5, 7)).toEqual(['yes', 'may write']);
    expect(all.slice(7)).toEqual(seen);
  });

  it('is pushed as an image on the same base, and runs by its digest as it ran', async () => {
    const artifact = await build();
    const docker = DOCKER_REGISTRY === null ? null : await startDockerRegistry(DOCKER_REGISTRY);
    const own = docker === null ? await ImageRegistry.start() : null;
    try {
      const place = `${docker?.host ?? own?.host ?? ''}/apps`;
      const directory = join(world.home, 'pushes');
      const registry = createRegistryPushes({
        ...common(),
        artifacts: world.artifacts,
        place,
        bases: new Map(),
        directory,
      });
      const request = {
        app: 'shop',
        artifact: artifact.id,
        image: '',
        processes: { web: 'sh run.sh' },
        logins: new Map<string, never>(),
      };
      const published = await registry.publish(request, () => {}, NEVER);
      const source = createRegistryImages({ ...common(), artifacts: world.artifacts });
      const wanted = {
        app: 'shop',
        deployId: 'pulled',
        image: parseImageName(published),
        kept: [],
        commands: {},
        logins: new Map<string, never>(),
      };
      const pulled = await source.pull(wanted, () => {}, NEVER);
      expect(pulled.processes).toEqual({ web: `/bin/sh -c 'exec sh run.sh'` });
      const before = await output(artifact.id, 'sh run.sh');
      const after = await output(pulled.id, 'sh run.sh');
      expect(after.slice(0, 4)).toEqual(before.slice(0, 4));
      expect(after.slice(-7)).toEqual(before.slice(-7));
    } finally {
      await docker?.close();
      await own?.close();
    }
  });

  it('uses the base that is here, also when its registry is away and the server was started anew', async () => {
    await build();
    const asked = bases.seen.length;
    await build();
    expect(bases.seen.length).toBe(asked);
    bases.isAway = true;
    const builder = await world.reopen();
    const request = { app: 'shop', deployId: 'again', platform: 'plain', source: treeOf(FILES), env: {} };
    const lines: string[] = [];
    await builder.build(request, (line) => lines.push(line), NEVER);
    expect(lines.join('\n')).toMatch(/Warning: The image cannot be pulled.*The one that is here is used/);
    bases.isAway = false;
  });

  it('is refused where the base lacks a tool, with what an operator can do', async () => {
    const failed = world.build({ platform: 'lacking', source: treeOf({ 'lack.sh': '' }) });
    await expect(failed).rejects.toMatchObject({
      code: 'toolchain_missing',
      message: expect.stringMatching(/^The image .*base:1 cannot build this app: node is not installed/) as string,
      hint: expect.stringContaining('images.base') as string,
    });
  });

  it('goes when nothing needs it and no build has asked for it', async () => {
    const { id } = await build();
    const tomorrow = new Date(Date.now() + 86_400_000);
    const bounds = { since: tomorrow, toolBytes: 0 };
    expect((await world.builder.removeUnused(bounds)).join()).not.toContain('base:1');
    await world.artifacts.remove(id);
    for (const name of ['new-1', 'without-facts']) {
      const cutOff = join(world.home, 'bases', name);
      mkdirSync(cutOff);
      utimesSync(cutOff, 1, 1);
    }
    expect((await world.builder.removeUnused(bounds)).join()).toContain('base:1@sha256:');
    expect(readdirSync(join(world.home, 'bases'))).toEqual([]);
    await build();
  });
});
