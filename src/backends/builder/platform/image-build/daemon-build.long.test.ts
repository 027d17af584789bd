/** Images that daemons really build, where there are some: Docker's as its program finds it, BuildKit at TANCHO_TEST_BUILDKIT. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BuilderWorld, builderWorld } from '../../../../../test/support/builder-world.ts';
import { ImageRegistry } from '../../../../../test/support/image-registry.ts';
import { treeOf as tree } from '../../../../../test/support/source-trees.ts';
import type { Artifact } from '../../../../domain/deploys/builder.ts';
import { readProcess } from '../../../../lib/processes.ts';
import { findProgram } from '../../../../lib/find-program.ts';
import { probeSandbox } from '../../../../sandbox/probe.ts';
import type { Sandbox } from '../../../../sandbox/sandbox.ts';
import { LocalArtifacts } from '../../../artifact-store/local/local-artifacts.ts';
import { createRegistryImages } from '../../../image-source/registry/registry-images.ts';
import type { ImageBuilder } from '../builder-context.ts';

const BUSYBOX = ['/bin/busybox', '/usr/bin/busybox'].find((file) => existsSync(file));
const ADDRESS = process.env['TANCHO_TEST_BUILDKIT'] ?? '';
const home = mkdtempSync(join(tmpdir(), 'tancho-daemons-'));
const sandbox: Sandbox = await probeSandbox({ stateDir: join(home, 'state'), home, level: 'auto' });
const DAEMONS: readonly { builder: ImageBuilder; asked: readonly string[] }[] = [
  { builder: { kind: 'docker' }, asked: ['docker', 'info'] },
  { builder: { kind: 'buildkit', address: ADDRESS }, asked: ['buildctl', '--addr', ADDRESS, 'debug', 'workers'] },
];

function missing([program = '', ...args]: readonly string[]): string | null {
  if (BUSYBOX === undefined) return 'there is no /bin/busybox';
  if (!sandbox.roots) return sandbox.description;
  if (findProgram(program) === null) return `there is no ${program}`;
  if (args.includes('')) return 'TANCHO_TEST_BUILDKIT names no BuildKit';
  try {
    execFileSync(program, args, { stdio: 'ignore', timeout: 20_000 });
    return null;
  } catch {
    return `"${[program, ...args].join(' ')}" finds no daemon`;
  }
}

afterAll(async () => {
  await sandbox.close();
  rmSync(home, { recursive: true, force: true });
});

describe.each(DAEMONS)('an image that is built by $builder.kind', ({ builder, asked }) => {
  const why = missing(asked);
  let world: BuilderWorld;
  let registry: ImageRegistry;
  beforeAll(async () => {
    registry = await ImageRegistry.start();
    const entries = [
      { path: 'bin/busybox', data: readFileSync(BUSYBOX ?? '/dev/null'), mode: 0o755 },
      ...['sh', 'mkdir', 'id', 'chown'].map((name) => ({
        path: `bin/${name}`,
        type: 'symlink' as const,
        target: 'busybox',
      })),
      { path: 'etc/passwd', data: 'root:x:0:0::/:/bin/sh\nweb:x:33:33::/:/bin/sh\n' },
    ];
    const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
    registry.addImage('tools', '1', { architecture, layers: [entries], config: { Cmd: ['/bin/sh'] } });
  });
  beforeEach(async () => {
    const images = createRegistryImages({
      addresses: { allow: [], allowLoopback: true, ownPorts: () => [] },
      ...{ artifacts: new LocalArtifacts(join(home, 'unused')), blobs: join(home, 'blobs') },
      logins: new Map(),
      timeoutMs: 120_000,
    });
    world = await builderWorld(undefined, {
      more: { sandbox, images, imageBuilder: builder, environment: process.env },
    });
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') console.log(world.lines.join('\n'));
    await world.dispose();
  });
  afterAll(() => registry.close());

  const build = (files: Record<string, string>, env: Record<string, string> = {}): Promise<Artifact> =>
    world.build({ platform: 'dockerfile', source: tree(files), env });
  const from = (): string => `FROM ${registry.host}/tools:1`;

  it('has its stages, its arguments and what is not ignored, and is run as it says', async (test) => {
    if (why !== null) return test.skip(why);
    const artifact = await build(
      {
        Dockerfile: [
          `${from()} AS made`,
          'ARG GREETING',
          'RUN mkdir -p /srv/web && echo "$GREETING" > /srv/web/index && chown web /srv/web && id -u',
          from(),
          'COPY --from=made /srv/web/index /srv/copy',
          'COPY . /srv/source/',
          'USER web',
          'WORKDIR /srv/web',
          'ENV LEVEL=top',
          'EXPOSE 81',
          'CMD ["/bin/busybox", "httpd", "-f", "-p", "81"]',
        ].join('\n'),
        '.dockerignore': 'secret\n',
        secret: 'not for the image',
        file: 'of the source',
      },
      { GREETING: 'hello there' },
    );
    expect(artifact.processes).toEqual({ web: '/bin/busybox httpd -f -p 81' });
    expect(await world.manifest(artifact)).toMatchObject({
      env: { LEVEL: 'top' },
      image: { directory: '/srv/web', uid: 33, ports: [81], programs: ['/bin/sh'] },
    });
    const read = (path: string): Promise<string> => readFile(world.code(artifact, path), 'utf8');
    expect(await read('srv/copy')).toBe('hello there\n');
    expect(await read('srv/source/file')).toBe('of the source');
    expect(existsSync(world.code(artifact, 'srv/source/secret'))).toBe(false);
  });

  it('that fails says at which step, with its last words', async (test) => {
    if (why !== null) return test.skip(why);
    const failing = build({ Dockerfile: `${from()}\nRUN echo last words; exit 7\n` });
    await expect(failing).rejects.toMatchObject({
      code: 'build_failed',
      message: expect.stringContaining('RUN echo last words') as string,
      lines: expect.arrayContaining([expect.stringContaining('last words') as string]) as string[],
    });
  });
});

it('a build that is cancelled leaves neither the programs of the client at work nor an image', async (test) => {
  if (!sandbox.roots) return test.skip(sandbox.description);
  const place = mkdtempSync(join(tmpdir(), 'tancho-client-'));
  const [bin, calls, pid] = ['bin', 'calls', 'pid'].map((name) => join(place, name)) as [string, string, string];
  mkdirSync(bin);
  // Its version is asked for by nobody in particular.
  chmodSync(place, 0o755);
  // In place of Docker's client, which leaves a build to another program.
  const client = `#!/bin/sh
[ "$1" = --version ] && exec echo Docker version 27.0.0
echo "$*" >> ${calls}
[ "$1" = build ] || exit 0
sleep 100000 &
echo $! > ${pid}
echo begun
wait
`;
  writeFileSync(join(bin, 'docker'), client, { mode: 0o755 });
  const images = { copy: () => Promise.reject(new Error('unused')), unpack: () => Promise.reject(new Error('unused')) };
  const world = await builderWorld(undefined, {
    more: { sandbox, images, imageBuilder: { kind: 'docker' }, execPath: join(bin, 'node'), environment: process.env },
  });
  const stop = new AbortController();
  const source = tree({ Dockerfile: 'FROM scratch\nCMD ["/x"]\n' });
  try {
    const built = world.build({ platform: 'dockerfile', source }, stop.signal);
    await Promise.race([
      built,
      expect.poll(() => world.lines.map((line) => line.trim()), { timeout: 60_000 }).toContain('begun'),
    ]);
    stop.abort();
    await expect(built).rejects.toMatchObject({ code: 'cancelled' });
    expect(readFileSync(calls, 'utf8').trim().split('\n')).toEqual([
      expect.stringMatching(/^build /),
      expect.stringMatching(/^image rm --no-prune tancho\/shop:/),
    ]);
    expect(readProcess(Number(readFileSync(pid, 'utf8')))?.zombie ?? true).toBe(true);
  } finally {
    await world.dispose();
    rmSync(place, { recursive: true, force: true });
  }
});

it('says that a daemon is away', async (test) => {
  if (findProgram('docker') === null) return test.skip('there is no docker');
  const environment = { ...process.env, DOCKER_HOST: `unix://${home}/nobody.sock` };
  const images = { copy: () => Promise.reject(new Error('unused')), unpack: () => Promise.reject(new Error('unused')) };
  const world = await builderWorld(undefined, {
    more: { sandbox, images, imageBuilder: { kind: 'docker' }, environment },
  });
  try {
    const built = world.build({ platform: 'dockerfile', source: tree({ Dockerfile: 'FROM scratch\nCMD ["/x"]\n' }) });
    await expect(built).rejects.toMatchObject({
      code: 'toolchain_missing',
      message: expect.stringMatching(/Docker.*does not answer/) as string,
    });
  } finally {
    await world.dispose();
  }
});
