/** Names that the platform knows, for shells to complete: kept for a few seconds, and none when it cannot be asked in time. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Client } from '../client/client.ts';
import type { Cli } from './cli.ts';
import { appName } from './git.ts';

interface Asking {
  readonly request: Client['request'];
  readonly signal: AbortSignal;
  /** The app that the command line is about. */
  readonly app: () => Promise<string>;
  /** The words before the one that is typed, without the command and its options. */
  readonly given: readonly string[];
}

/** Where the word that is typed stands. */
export interface TypedWord {
  /** Of LIVE_NAMES; null where anything may stand. */
  readonly key: string | null;
  /** The app that is named so far. */
  readonly app: string | undefined;
  readonly given: readonly string[];
}

type Ask = (asking: Asking) => Promise<readonly string[]>;

const FRESH_MS = 5_000;
/** Files; each question and directory has its own. Beyond this, those that are no longer read go. */
const MAX_KEPT = 50;
/** A person waits at the prompt. */
const ASK_MS = 1_500;

const apps: Ask = async ({ request, signal }) => (await request('apps.list', { signal })).map(({ Name }) => Name);
const teams: Ask = async ({ request, signal }) => (await request('teams.list', { signal })).map(({ name }) => name);
const appInfo = async ({ request, signal, app }: Asking) =>
  request('apps.info', { params: { app: await app() }, signal });
const variables: Ask = async ({ request, signal, app }) =>
  (await request('env.get', { params: { app: await app() }, signal })).map(({ name }) => name);

const releases: Ask = async ({ request, signal, app }) =>
  (await request('releases.list', { params: { app: await app() }, signal })).map(({ release }) => `v${release}`);

const certificateNames: Ask = async ({ request, signal }) =>
  (await request('certificates.list', { signal })).flatMap(({ names }) => names);

/** By the name that an argument, or the value of an option, has in the help; with its command before it where that is needed. */
export const LIVE_NAMES: Readonly<Record<string, Ask>> = {
  app: apps,
  app1: apps,
  app2: apps,
  team: teams,
  platform: async ({ request, signal }) => (await request('platforms.list', { signal })).map(({ Name }) => Name),
  pool: async ({ request, signal }) => (await request('pools.list_all', { signal })).map(({ Name }) => Name),
  // Of those that pools are on; that of the default pool is always among them.
  engine: async ({ request, signal }) => [
    ...new Set((await request('pools.list_all', { signal })).map(({ Engine }) => Engine)),
  ],
  plan: async ({ request, signal }) => (await request('plans.list', { signal })).map(({ name }) => name),
  email: async ({ request, signal }) => (await request('users.list', { signal })).map(({ Email }) => Email),
  process: async (asking) => [...new Set((await appInfo(asking)).Units.map(({ ProcessName }) => ProcessName))],
  unit: async (asking) => (await appInfo(asking)).Units.map(({ Name }) => Name),
  id: async ({ request, signal }) =>
    (await request('deploys.list', { query: { limit: 20 }, signal })).map(({ ID }) => ID),
  release: async ({ request, signal, app }) => {
    const deploys = await request('deploys.list', { query: { app: await app(), limit: 50 }, signal });
    return [
      ...new Set(deploys.filter(({ CanRollback }) => CanRollback).map(({ Release }) => `v${Release}`)),
      'previous',
    ];
  },
  names: variables,
  'edge set setting=value': async () => (await edgeSettings()).map((name) => `${name}=`),
  'edge unset settings': () => edgeSettings(),
  'env set KEY=VALUE': async (asking) => (await variables(asking)).map((name) => `${name}=`),
  'key remove name': async ({ request, signal }) => Object.keys(await request('keys.list', { signal })),
  'app unlink to': async ({ request, signal, given: [app = ''] }) =>
    (await request('apps.info', { params: { app }, signal })).links ?? [],
  to: apps,
  'release compare to': releases,
  'release compare from': releases,
  'event show event': async ({ request, signal }) =>
    (await request('events.list', { query: { limit: 20 }, signal })).map(({ UniqueID }) => UniqueID),
  'alert set rule': async () => (await import('./alerts/alert.ts')).RULES,
  'webhook add event': async () => (await import('./webhooks/webhook.ts')).EVENTS,
  'webhook resend delivery': async ({ request, signal, given: [webhook = ''] }) =>
    (await request('webhooks.deliveries', { params: { webhook }, signal })).map(({ id }) => id),
  'cert why name': certificateNames,
  'cert renew name': certificateNames,
  'cert remove name': certificateNames,
  'cname remove name': async (asking) => (await appInfo(asking)).cname ?? [],
  registry: async ({ request, signal }) => (await request('registries.list', { signal })).map(({ host }) => host),
  volume: async ({ request, signal, app }) =>
    (await request('volumes.list', { params: { app: await app() }, signal })).map(({ name }) => name),
  webhook: async ({ request, signal }) => (await request('webhooks.list', { signal })).map(({ id }) => id),
  drain: async ({ request, signal }) => (await request('drains.list', { signal })).map(({ id }) => id),
  service: async ({ request, signal }) => (await request('instances.list', { signal })).map(({ service }) => service),
  instance: async ({ request, signal }) =>
    (await request('instances.list', { signal })).flatMap(({ instances }) => instances),
  healer: async ({ request, signal }) => (await request('healers.list', { signal })).flatMap((one) => Object.keys(one)),
  'instance create plan': async ({ request, signal, given: [service = ''] }) =>
    (await request('services.plans', { params: { service }, signal })).map(({ Name }) => Name),
  shell: async () => ['bash', 'zsh', 'fish'],
  format: async () => ['syslog', 'ndjson', 'otlp', 'loki'],
};

/** Never throws: without names the shell completes nothing. */
export async function liveNames(cli: Cli, { key, app, given }: TypedWord): Promise<readonly string[]> {
  const ask = key === null ? undefined : LIVE_NAMES[key];
  if (ask === undefined) return [];
  try {
    const { client, url } = await cli.chosen();
    const { cwd, env } = cli.context;
    const file = cacheFile(env, [url, env['TANCHO_TOKEN'], client.name, key ?? '', app ?? cwd, ...given]);
    const kept = await readKept(file);
    if (kept !== null) return kept;
    const signal = AbortSignal.timeout(ASK_MS);
    const names = await ask({ request: client.request, signal, app: () => appName(cli, app), given });
    // Where nothing can be kept, the next word is asked for again.
    await keep(file, names).catch(() => undefined);
    return names;
  } catch {
    return [];
  }
}

function cacheFile(env: NodeJS.ProcessEnv, key: readonly (string | undefined)[]): string {
  const cache = env['XDG_CACHE_HOME'] ?? '';
  const folder = join(cache === '' ? join(env['HOME'] ?? homedir(), '.cache') : cache, 'tancho');
  return join(folder, `names-${createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 16)}.json`);
}

async function readKept(file: string): Promise<readonly string[] | null> {
  if ((await ageMs(file)) > FRESH_MS) return null;
  const names: unknown = JSON.parse(await readFile(file, 'utf8'));
  return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : null;
}

async function keep(file: string, names: readonly string[]): Promise<void> {
  const fresh = `${file}.${process.pid}`;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  try {
    await writeFile(fresh, JSON.stringify(names), { mode: 0o600 });
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
  await removeOld(dirname(file));
}

async function removeOld(folder: string): Promise<void> {
  const kept = (await readdir(folder)).filter((name) => name.startsWith('names-'));
  if (kept.length <= MAX_KEPT) return;
  for (const name of kept) {
    const path = join(folder, name);
    if ((await ageMs(path)) > FRESH_MS) await rm(path, { force: true });
  }
}

async function ageMs(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => Number.POSITIVE_INFINITY,
  );
}

async function edgeSettings(): Promise<readonly string[]> {
  return (await import('./edge/edge.ts')).EDGE_SETTING_NAMES;
}
