/**
 * Several whole servers on one PostgreSQL, with nothing on their own machine: their apps run in a small cluster of this process, from images
 * in a registry of this process. Apps say what they do in the language of memory-unit.ts (`web: serve`); what is pushed is built
 * on an image with BusyBox.
 */
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { SmallCluster } from '../../src/backends/provisioner/kubernetes/testing/cluster.ts';
import { ImageRegistry } from './image-registry.ts';
import { createTestDatabase } from './postgres.ts';
import { startWorld, type World } from './world.ts';

/** Why startControlsWorld() answers null, where it does. */
export const WITHOUT_CONTROLS = 'it takes PostgreSQL and /bin/busybox (package busybox-static)';

const BUSYBOX = ['/bin/busybox', '/usr/bin/busybox'].find((file) => existsSync(file));

const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';
const APPLETS = ['sh', 'cat', 'cp', 'ln', 'ls', 'mkdir', 'mv', 'rm', 'echo', 'test', 'env', 'id', 'chmod', 'find'];

export interface ControlsWorld {
  readonly cluster: SmallCluster;
  readonly registry: ImageRegistry;
  /** A server more; its settings may be other ones, and its program another main.js. */
  start(env?: Record<string, string>, program?: string): Promise<World>;
  /** The settings of a server without the process engine. */
  readonly env: Readonly<Record<string, string>>;
  dispose(): Promise<void>;
}

/** Servers with the settings and the key of the first. */
export class EqualServers {
  readonly #env: Readonly<Record<string, string>>;
  readonly #worlds: World[] = [];

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  async start(more: Record<string, string> = {}, program?: string): Promise<World> {
    const home = await mkdtemp(path.join(os.tmpdir(), 'tancho-world-'));
    await chmod(home, 0o711);
    const first = this.#worlds[0];
    if (first !== undefined) await copyFile(path.join(first.home, 'secret.key'), path.join(home, 'secret.key'));
    const env = { ...this.#env, ...more };
    const world = await startWorld({ home, hasCluster: false, env, ...(program !== undefined && { program }) });
    this.#worlds.push(world);
    return world;
  }

  async dispose(): Promise<void> {
    for (const world of this.#worlds) await world.dispose();
  }
}

/** Null where something of that is missing. */
export async function startControlsWorld(): Promise<ControlsWorld | null> {
  if (BUSYBOX === undefined) return null;
  const database = await createTestDatabase();
  if (database === null) return null;
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tancho-controls-'));
  const cluster = new SmallCluster();
  await cluster.server.start();
  const registry = await ImageRegistry.start();
  await addImages(registry);
  const kubeconfig = path.join(folder, 'kubeconfig');
  await writeFile(kubeconfig, kubeconfigOf(cluster.server.url), { mode: 0o600 });
  const env = {
    TANCHO_DATABASE_URL: database.url,
    TANCHO_PROCESS_ENGINE: 'off',
    TANCHO_ENGINES: `prod=kubernetes:${kubeconfig}?namespace=apps`,
    TANCHO_IMAGES_REGISTRY: `${registry.host}/apps`,
    TANCHO_IMAGES_BASE: `*=${registry.host}/base:1`,
  };
  const servers = new EqualServers(env);
  return {
    cluster,
    registry,
    env,
    start: (more, program) => servers.start(more, program),
    async dispose() {
      await servers.dispose();
      await cluster.close();
      await registry.close();
      await database.dispose();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function kubeconfigOf(server: string): string {
  const named = (name: string, of: object): object => ({ name, ...of });
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [named('small', { cluster: { server } })],
    users: [named('tancho', { user: { token: 'any' } })],
    contexts: [named('small', { context: { cluster: 'small', user: 'tancho' } })],
    'current-context': 'small',
  });
}

/** `team/shop:1`, which serves, and `base:1`, on which code is built. */
async function addImages(registry: ImageRegistry): Promise<void> {
  const busybox = { path: 'bin/busybox', data: await readFile(BUSYBOX ?? ''), mode: 0o755 };
  registry.addImage('team/shop', '1', {
    architecture: ARCHITECTURE,
    layers: [[busybox]],
    config: { Entrypoint: ['serve'] },
  });
  const entries = [
    busybox,
    ...APPLETS.map((name) => ({ path: `bin/${name}`, type: 'symlink' as const, target: 'busybox' })),
    { path: 'bin/node', data: '#!/bin/sh\necho v24.0.0\n', mode: 0o755 },
    { path: 'bin/npm', data: '#!/bin/sh\necho 11.0.0\n', mode: 0o755 },
    { path: 'etc/passwd', data: 'root:x:0:0::/root:/bin/sh\n' },
    { path: 'root', type: 'directory' as const, mode: 0o700 },
  ];
  const config = { Cmd: ['/bin/sh'], Env: ['PATH=/bin'] };
  registry.addImage('base', '1', { architecture: ARCHITECTURE, layers: [entries], config });
}
