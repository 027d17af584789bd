/** Images that are really built, by buildah, from what a registry of this machine has. */
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BuilderWorld, builderWorld } from '../../../../../test/support/builder-world.ts';
import { ImageRegistry } from '../../../../../test/support/image-registry.ts';
import { skipFor } from '../../../../../test/support/skips.ts';
import { treeOf as tree } from '../../../../../test/support/source-trees.ts';
import { NO_SETTINGS } from '../../../../domain/apps/app-settings.ts';
import type { Artifact } from '../../../../domain/deploys/builder.ts';
import { Failure } from '../../../../domain/failure.ts';
import { DiskWriters } from '../../../../domain/disk/disk-writers.ts';
import { findProgram } from '../../../../lib/find-program.ts';
import { probeSandbox } from '../../../../sandbox/probe.ts';
import type { Sandbox } from '../../../../sandbox/sandbox.ts';
import { LocalArtifacts } from '../../../artifact-store/local/local-artifacts.ts';
import { createHomeSurvey } from '../../../disk-survey/home/home-survey.ts';
import { createRegistryImages } from '../../../image-source/registry/registry-images.ts';

const BUSYBOX = ['/bin/busybox', '/usr/bin/busybox'].find((file) => existsSync(file));
const POLL = { timeout: 120_000 };
const home = mkdtempSync(join(tmpdir(), 'tancho-images-'));
const sandbox: Sandbox = await probeSandbox({ stateDir: join(home, 'state'), home, level: 'auto' });
const missing =
  (findProgram('buildah') === null && 'buildah is not installed') ||
  (BUSYBOX === undefined && 'there is no /bin/busybox (install the package busybox-static)') ||
  (!sandbox.manyUsers && sandbox.description);

describe('a build from a Dockerfile', skipFor(missing), () => {
  let world: BuilderWorld;
  let registry: ImageRegistry;
  let writers: DiskWriters;
  beforeAll(async () => {
    registry = await ImageRegistry.start();
    const applets = ['sh', 'echo', 'cat', 'id', 'touch', 'chown', 'mkdir', 'ls', 'sleep', 'env', 'test'];
    const entries = [
      { path: 'bin/busybox', data: readFileSync(BUSYBOX ?? ''), mode: 0o755 },
      ...applets.map((name) => ({ path: `bin/${name}`, type: 'symlink' as const, target: 'busybox' })),
      { path: 'etc/passwd', data: 'root:x:0:0::/:/bin/sh\nweb:x:33:33::/:/bin/sh\n' },
    ];
    registry.addImage('tools', '1', { layers: [entries], config: { Cmd: ['/bin/sh'], Env: ['BASE=yes'] } });
    registry.addImage('data', '1', { layers: [[{ path: 'data/file', data: 'of the other image' }]], config: {} });
  });
  beforeEach(async () => {
    const images = createRegistryImages({
      addresses: { allow: [], allowLoopback: true, ownPorts: () => [] },
      ...{ artifacts: new LocalArtifacts(join(home, 'unused')), blobs: join(home, 'blobs') },
      logins: new Map(),
      timeoutMs: 120_000,
    });
    writers = new DiskWriters(createHomeSurvey({ home }));
    world = await builderWorld(undefined, { more: { sandbox, images, writers } });
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') console.log(world.lines.join('\n'));
    await world.dispose();
  });
  afterAll(async () => {
    await registry.close();
    await sandbox.close();
    rmSync(home, { recursive: true, force: true });
  });

  const build = (
    files: Record<string, string>,
    more: Partial<Parameters<BuilderWorld['build']>[0]> = {},
    signal?: AbortSignal,
  ) => world.build({ platform: 'dockerfile', source: tree(files), ...more }, signal);
  const from = (): string => `FROM ${registry.host}/tools:1`;
  const read = (artifact: Artifact, path: string): Promise<string> => readFile(world.code(artifact, path), 'utf8');
  async function failureOf(work: Promise<unknown>): Promise<Failure> {
    const thrown = await work.catch((error: unknown) => error);
    if (thrown instanceof Failure) return thrown;
    throw new Error(`expected a Failure, not ${String(thrown)}`);
  }

  it('begins with what a registry has, takes from other images and stages, and is run as it says', async () => {
    const files = {
      Dockerfile: [
        `ARG TAG=none`,
        `FROM ${'${REGISTRY}'}/tools:$TAG AS made`,
        'ARG GREETING',
        'RUN mkdir -p /srv/web && echo "$GREETING" > /srv/web/index && chown web /srv/web && id -u',
        'USER web',
        'RUN id -u && touch /srv/web/mine',
        `FROM made`,
        `COPY --from=${registry.host}/data:1 /data/file /srv/data`,
        'COPY --from=made /srv/web/index /srv/copy',
        'COPY . /srv/source/',
        'EXPOSE 81',
        'WORKDIR /srv/web',
        'ENV LEVEL=top',
        'LABEL tancho.healthcheck.path=/ok',
        'ENTRYPOINT ["/bin/busybox"]',
        'CMD ["httpd", "-f", "-p", "81"]',
      ].join('\n'),
      'tancho.yaml': 'dockerfile: { args: "TAG=1 OTHER=x" }\nvolumes: { kept: /srv/kept }\n',
      '.dockerignore': 'secret\n.dockerignore\n',
      secret: 'not for the image',
      file: 'of the source',
    };
    files.Dockerfile = `ARG REGISTRY\n${files.Dockerfile}`;
    const env = { REGISTRY: registry.host, GREETING: 'hello there', UNASKED: 'x' };
    const artifact = await build(files, { env });
    expect(artifact).toMatchObject({
      processes: { web: '/bin/busybox httpd -f -p 81' },
      healthCheck: { path: '/ok' },
      volumes: { kept: { path: '/srv/kept' } },
    });
    expect(await world.manifest(artifact)).toMatchObject({
      platform: 'dockerfile',
      env: { BASE: 'yes', LEVEL: 'top' },
      image: { directory: '/srv/web', uid: 33, gid: 33, ports: [81], programs: ['/bin/sh'] },
    });
    expect(await read(artifact, 'srv/web/index')).toBe('hello there\n');
    expect(await read(artifact, 'srv/copy')).toBe('hello there\n');
    expect(await read(artifact, 'srv/data')).toBe('of the other image');
    expect(readdirSync(world.code(artifact, 'srv/source')).sort()).toEqual(['Dockerfile', 'file', 'tancho.yaml']);
    const said = world.lines.join('\n');
    expect(said).toContain('STEP');
    expect(said).toMatch(/^\s*0$/m);
    expect(said).toMatch(/^\s*33$/m);
    expect(said).not.toContain('localhost/');
  });

  it('uses what the build before has made, and brings no image twice', async () => {
    const files = { Dockerfile: `${from()}\nRUN echo slow > /made\nCOPY file /file\n`, file: 'one' };
    await build(files);
    const asked = registry.seen.filter(({ path }) => path.includes('/blobs/')).length;
    const artifact = await build({ ...files, file: 'two' });
    expect(world.lines.join('\n')).toContain('Using cache');
    expect(registry.seen.filter(({ path }) => path.includes('/blobs/')).length).toBe(asked);
    expect(await read(artifact, 'made')).toBe('slow\n');
    expect(await read(artifact, 'file')).toBe('two');
    expect(readdirSync(join(world.home, 'cache', 'shop')).sort()).toEqual(['containers', 'used']);
  });

  it('is ended where it fills the disk: what its steps write is counted, and goes', async () => {
    const writes = `RUN cat /bin/busybox /bin/busybox /bin/busybox > /made && echo written && sleep 300`;
    const failure = failureOf(build({ Dockerfile: `${from()}\n${writes}\n` }));
    await expect.poll(() => world.lines.join('\n'), POLL).toMatch(/^written$/m);
    const bytes = await writers.list()[0]?.written('bytes', new AbortController().signal);
    expect(bytes).toBeGreaterThan(3 * statSync(BUSYBOX ?? '').size);
    writers.list()[0]?.end('it takes all');
    expect(await failure).toMatchObject({ code: 'disk_low', message: 'it takes all' });
    expect(readdirSync(join(world.home, 'cache', 'shop'))).toEqual(['used']);
  });

  it('several processes, with a shell where one is needed; a stage by its name', async () => {
    const files = {
      Dockerfile: `${from()} AS one\nRUN echo 1 > /stage\nFROM one AS two\nRUN exit 1\n`,
      'tancho.yaml': 'dockerfile: { target: one }\n',
      Procfile: 'web: httpd -f -p $PORT\nworker: /bin/sleep 1000\nclock: echo a; sleep 1\n',
    };
    const artifact = await build(files);
    expect(artifact.processes).toEqual({
      web: "/bin/sh -c 'exec httpd -f -p $PORT'",
      worker: '/bin/sleep 1000',
      clock: "/bin/sh -c 'echo a; sleep 1'",
    });
    expect(await read(artifact, 'stage')).toBe('1\n');
  });

  it('that fails says at which step, with its last words, and leaves nothing', async () => {
    const failure = await failureOf(build({ Dockerfile: `${from()}\nRUN echo the reason && exit 7\n` }));
    expect(failure).toMatchObject({ code: 'build_failed' });
    expect(failure.message).toContain('The step "RUN echo the reason && exit 7" failed');
    expect(failure.lines.join('\n')).toContain('the reason');
    expect(await world.artifacts.list()).toEqual([]);
    expect(readdirSync(join(world.home, 'cache', 'shop')).sort()).toEqual(['containers', 'used']);
  });

  it('learns which image is not there, and by what line one has no name', async () => {
    const gone = await failureOf(build({ Dockerfile: `FROM ${registry.host}/nothing:1\n` }));
    expect(gone.code).toBe('pull_failed');
    const unnamed = await failureOf(build({ Dockerfile: `ARG WHAT\nFROM ${registry.host}/$WHAT:1\n` }));
    expect(unnamed).toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('Dockerfile line 2') as string,
    });
  });

  it('ends when it is cancelled, and nothing of it goes on', async () => {
    const stop = new AbortController();
    // Of nobody else on this machine.
    const seconds = 1_000_000 + randomInt(1_000_000);
    const building = failureOf(
      build({ Dockerfile: `${from()}\nRUN echo begun && sleep ${seconds}\n` }, {}, stop.signal),
    );
    await expect.poll(() => world.lines.some((line) => line.trim() === 'begun'), { timeout: 60_000 }).toBe(true);
    stop.abort();
    expect((await building).code).toBe('cancelled');
    expect(readdirSync('/proc').filter((pid) => commandOf(pid).includes(`sleep\u0000${seconds}`))).toEqual([]);
  });

  it('sees nothing of the machine, and only the directory that is the app, also of a workspace', async () => {
    const files = {
      'package.json': '{ "workspaces": ["app"] }',
      'package-lock.json': '{}',
      'app/package.json': '{ "name": "app" }',
      Dockerfile: `${from()}\nRUN exit 1\n`,
      'app/Dockerfile': `${from()}\nCOPY . /all/\nRUN test ! -e ${home}/state && test ! -e /build/store\n`,
      'app/file': 'in it',
      outside: 'not in it',
    };
    const artifact = await build(files, { platform: 'auto', settings: { ...NO_SETTINGS, root: 'app' } });
    expect(readdirSync(world.code(artifact, 'all')).sort()).toEqual(['Dockerfile', 'file', 'package.json']);
  });
});

it('is refused at once where the machine cannot, with what is missing', async () => {
  const world = await builderWorld();
  try {
    const files = { Dockerfile: 'FROM scratch\nCMD ["/x"]\n' };
    const thrown = await world.build({ platform: 'dockerfile', source: tree(files) }).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: 'toolchain_missing', hint: expect.stringContaining('install') as string });
  } finally {
    await world.dispose();
  }
});

function commandOf(pid: string): string {
  try {
    return /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : '';
  } catch {
    return '';
  }
}
