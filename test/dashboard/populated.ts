/** A platform with one of everything, for tests that look at all of the dashboard. Whatever can be named freely is named by the canary. */
import { once } from 'node:events';
import { mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningProvider, serveProvider } from '../../src/providers/serve.ts';
import { createIdentity, createWorkTree, nodeApp } from '../support/git.ts';
import { certificateOf } from '../support/test-certificates.ts';
import { startWorld, type World } from '../support/world.ts';

/** Runs when it is ever taken for HTML; every dialog of a page is noted. */
export const CANARY = '<img src=x onerror=alert(1)>"\'><script>alert(2)</script>';
/** As good a canary where spaces are refused. */
export const MARKUP = '<b>bold</b>';
/** Such a file is what the broken deploy of `shop` runs; backups lie in such a folder. */
export const FILE_NAME = '<img src=x onerror=alert(3)>.js';
export const BEA = { email: 'bea@example.com', password: 'battery horse staple' };
const PLATFORM = `description: ${JSON.stringify(CANARY)}\nexample: run-it\ndetect: [app.mine]\nprocesses:\n  - { name: web, command: run-it }\n`;
const PROVIDER = { username: 'provider', password: 'of-the-provider' };
const OWN_NAME = 'www.example.com';

export interface Populated {
  readonly world: World;
  readonly token: string;
  /** By what they are of. */
  readonly ids: Readonly<Record<'deploy' | 'failed' | 'event' | 'webhook', string>>;
  /** From now on no backup can be made; one that was asked for has failed. */
  breakBackups(): Promise<void>;
  dispose(): Promise<void>;
}

export async function startPopulated(): Promise<Populated> {
  const [provider, receiver] = await Promise.all([startProvider(), startReceiver()]);
  const disk = await mkdtemp(join(tmpdir(), 'tancho-populated-'));
  const backups = join(disk, FILE_NAME);
  const world = await startWorld({
    env: { TANCHO_TLS_LISTEN: '127.0.0.1:0', TANCHO_CERTIFICATES_LOOK: 'off', TANCHO_BACKUP_DIRECTORY: backups },
  });
  const dispose = async (): Promise<void> => {
    await world.dispose();
    await Promise.all([provider.stop(), receiver.stop(), rm(disk, { recursive: true, force: true })]);
  };
  try {
    const token = await world.login();
    const api: Api = async (method, path, body) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const answer = await world.api(method, path, { token, ...(body !== undefined && { body: text }) });
      if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.text;
    };
    // Refused, and noted with what was asked.
    await world.api('POST', `/users/${encodeURIComponent(CANARY)}/tokens`, { body: '{"password":"x"}' });
    await accounts(api);
    await apps(world, api);
    await services(api, provider.url);
    await administration(api, receiver.url);
    const breakBackups = async (): Promise<void> => {
      await rename(backups, join(disk, 'away'));
      await symlink(join(disk, 'nowhere', CANARY), backups);
      const { text } = await world.api('POST', '/backups', { token });
      if (!text.includes('The backup failed')) throw new Error(`A backup was to fail: ${text}`);
    };
    return { world, token, ids: await idsOf(api), breakBackups, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Throws where it is refused. */
type Api = (method: string, path: string, body?: unknown) => Promise<string>;

async function accounts(api: Api): Promise<void> {
  await api('POST', '/users', BEA);
  await api('POST', '/teams', { name: 'crew' });
  await api('POST', '/teams', { name: 'bakers' });
  await api('PUT', `/teams/bakers/${BEA.email}`);
  for (const name of ['laptop', CANARY]) {
    const identity = await createIdentity();
    await api('POST', '/users/keys', { key: identity.publicKey, name });
    await identity.dispose();
  }
}

async function apps(world: World, api: Api): Promise<void> {
  for (const name of ['shop', 'idle', 'depot', 'fresh']) {
    await api('POST', '/apps', { name, platform: 'nodejs', teamOwner: 'crew', description: CANARY });
  }
  // A file name of somebody's, in a failure report.
  const tree = await createWorkTree(nodeApp(CANARY));
  try {
    await deploy(world, 'shop', tree.dir, 0);
    await tree.write({ 'second.txt': CANARY });
    await deploy(world, 'shop', tree.dir, 0);
    await deploy(world, 'idle', tree.dir, 0);
    await tree.write({ [FILE_NAME]: CANARY, Procfile: `web: node "${FILE_NAME}"\n` });
    await deploy(world, 'shop', tree.dir, 1);
  } finally {
    await tree.dispose();
  }
  await api('POST', '/apps/idle/stop');
  await api('POST', '/apps/shop/env', { CANARY });
  await api('POST', '/apps/shop/log', [CANARY]);
  await api('POST', '/apps/shop/cname', { cname: OWN_NAME });
  await api('PUT', '/apps/shop/teams/bakers');
  await api('POST', '/apps/shop/volumes', { name: 'uploads' });
  await api('POST', '/apps/shop/volumes', { name: 'spare' });
  await api('PUT', '/apps/shop/volumes/uploads/mount', { path: 'uploads' });
  await api('PUT', '/apps/shop/links/depot');
  await api('POST', '/tokens', { client: 'shop' });
  await api('PUT', '/apps/shop/edge', { maintenancePage: CANARY });
  await api('POST', '/certificates', { ...(await certificateOf(CANARY, [OWN_NAME])), app: 'shop' });
}

async function deploy(world: World, app: string, directory: string, code: number): Promise<void> {
  const pushed = await world.cli(['deploy', directory, '-a', app, '-m', CANARY]);
  if (pushed.code !== code) throw new Error(`deploy of ${app}: ${pushed.stdout}${pushed.stderr}`);
}

async function services(api: Api, url: string): Promise<void> {
  const manifest = {
    id: 'canaries',
    username: PROVIDER.username,
    password: PROVIDER.password,
    endpoint: { production: url },
  };
  await api('POST', '/services', JSON.stringify(manifest));
  await api('PUT', '/services/canaries/doc', CANARY);
  const about = { description: CANARY, tags: [CANARY] };
  await api('POST', '/services/instances', {
    name: 'kept',
    service_name: 'canaries',
    plan: 'small',
    owner: 'crew',
    ...about,
  });
  await api('PUT', '/services/instances/permission/kept/bakers');
  await api('PUT', '/services/instances/kept/shop', {});
}

/** It says nothing but the canary. */
function startProvider(): Promise<RunningProvider> {
  return serveProvider({
    ...{ host: '127.0.0.1', port: 0, ...PROVIDER },
    handlers: {
      plans: async () => [
        { name: 'small', description: CANARY },
        { name: MARKUP, description: 'named by its provider' },
      ],
      create: async () => {},
      info: async () => [{ label: CANARY, value: CANARY }],
      status: async () => 'up',
      bind: async () => ({ CANARY_OF_PROVIDER: CANARY }),
      unbind: async () => {},
      remove: async () => {},
    },
  });
}

/** Of drains and webhooks: it takes nothing, and says why. */
async function startReceiver(): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(400, { 'content-type': 'text/plain' }).end(CANARY);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function administration(api: Api, receiver: string): Promise<void> {
  await api('POST', '/drains', { app: 'shop', url: 'https://drain.example/', headers: { 'X-Key': CANARY } });
  await api('POST', '/drains', { app: 'depot', url: receiver });
  for (const url of ['https://hook.example/', receiver]) {
    const { id } = JSON.parse(await api('POST', '/webhooks', { app: 'shop', url })) as { id: string };
    await api('POST', `/webhooks/${id}/test`);
  }
  await api('PUT', '/registries/registry.example', { user: MARKUP, password: 'secret' });
  await api('POST', '/pools', { name: 'fast' });
  await api('POST', '/pools/fast/team?team=crew');
  await api('POST', '/plans', { name: 'big', memory: 0 });
  await api('POST', '/platforms?name=mine', PLATFORM);
  await api('POST', '/backups');
}

async function idsOf(api: Api): Promise<Populated['ids']> {
  const read = async <T>(path: string): Promise<T[]> => JSON.parse(await api('GET', path)) as T[];
  const deploys = await read<{ ID: string; State: string }>('/deploys?app=shop');
  const [event] = await read<{ UniqueID: string }>('/events?limit=1');
  const webhooks = await read<{ id: string; receiver: string }>('/webhooks');
  return {
    deploy: deploys.find(({ State }) => State === 'done')?.ID ?? '',
    failed: deploys.find(({ State }) => State === 'failed')?.ID ?? '',
    event: event?.UniqueID ?? '',
    webhook: webhooks.find(({ receiver }) => receiver.includes('127.0.0.1'))?.id ?? '',
  };
}
