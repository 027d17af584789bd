/** What chaos.test.ts kills things in, and how it sees that all is well again. */
import pg from 'pg';
import { LABELS } from '../../src/backends/provisioner/kubernetes/labels.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import { readProcess } from '../../src/lib/processes.ts';
import { EqualServers } from '../support/controls-world.ts';
import { allowPush, createIdentity, createWorkTree, type Identity, nodeApp, sshUrl } from '../support/git.ts';
import { createDurableDatabase, type DurableDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import type { World } from '../support/world.ts';
import { openWorldCluster, type WorldCluster } from '../support/world-engine.ts';
import { BalancedLoad } from './balanced-load.ts';
import { Changes, Pushes } from './chaos-work.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { type Kill, type KillKind, Kills } from './kills.ts';
import { addressesIn } from './edge-table.ts';
import { isPodReady, isReady } from './node.ts';
import { buildServers } from './program.ts';

/** Nobody changes `still`. */
const APPS = ['still', 'changed', 'pushed'] as const;
const EDGES = 2;
const CONNECTIONS = 10;
const WATCH_MS = 500;
const FIRST_MS = 180_000;
const LOST_AFTER_SECONDS = 20;

export class ChaosWorld {
  /** What leftovers() has found last. */
  lastLeftovers: readonly string[] = [];
  readonly #cluster: Cluster;
  readonly #apps: WorldCluster;
  readonly #database: DurableDatabase;
  readonly #equal: EqualServers;
  readonly #worlds: World[] = [];
  readonly #ann: Identity;
  /** Of servers that have ended by themselves, with their last words: they are started again, as whoever watches over services does. */
  readonly ended: string[] = [];
  readonly #kills: Kills;
  readonly #restarting = new Set<number>();
  readonly #away = new Set<number>();
  #watch: NodeJS.Timeout | undefined;
  #token = '';

  private constructor(parts: { cluster: Cluster; apps: WorldCluster; database: DurableDatabase; ann: Identity }) {
    this.#cluster = parts.cluster;
    this.#apps = parts.apps;
    this.#database = parts.database;
    this.#ann = parts.ann;
    this.#kills = new Kills({
      ...{ worlds: this.#worlds, edges: EDGES, cluster: parts.cluster, database: parts.database, app: APPS[0] },
      ...{ namespace: parts.apps.namespace, well: (timeoutMs) => this.#appsWell(timeoutMs) },
      ...{ away: this.#away, restarting: this.#restarting },
    });
    this.#equal = new EqualServers({
      ...parts.apps.env,
      TANCHO_DATABASE_URL: parts.database.url,
      TANCHO_PROCESS_ENGINE: 'off',
      TANCHO_HEALING_INTERVAL: '10',
    });
  }

  /** Null: there is no PostgreSQL, which was printed. */
  static async start(servers: number): Promise<ChaosWorld | null> {
    const built = await buildServers();
    if (typeof built === 'string') throw new Error(built);
    const database = await createDurableDatabase();
    if (database === null) return null;
    const cluster = await startCluster(built.program, {
      nodes: 2,
      lostAfterSeconds: LOST_AFTER_SECONDS,
      podsGoFirst: true,
    });
    const { kubeconfig, base, registry } = cluster;
    const apps = await openWorldCluster({ kubeconfig, base, registry: registry.host });
    const world = new ChaosWorld({ cluster, apps, database, ann: await createIdentity() });
    try {
      world.#watch = setInterval(() => world.#lookAfterServers(), WATCH_MS);
      for (let number = 0; number < servers; number++) world.#worlds.push(await world.#equal.start());
      await world.#makeApps();
      return world;
    } catch (error) {
      await world.dispose();
      throw error;
    }
  }

  beginWork(perSecond: number): { load: BalancedLoad; changes: Changes; pushes: Pushes } {
    const worlds = this.#worlds;
    const edges = worlds.slice(0, EDGES).map(({ edge }) => edge);
    const load = new BalancedLoad({ edges, apps: APPS, perSecond, connections: CONNECTIONS, away: this.#away });
    const changes = new Changes({ worlds, token: this.#token, app: 'changed' });
    const pushes = new Pushes({ worlds, token: this.#token, app: 'pushed', identity: this.#ann });
    return { load, changes, pushes };
  }

  /** Those that others have gone on without, and how often. */
  get begunAnew(): readonly string[] {
    return this.#worlds.flatMap((world, number) => {
      const times = world.output().split('was away for longer than its lease').length - 1;
      return times === 0 ? [] : [`server ${number + 1} has begun anew ${times} times`];
    });
  }

  /** Resolves when it has been started again, or its place has been taken. */
  kill(kind: KillKind): Promise<Kill> {
    return this.#kills.kill(kind);
  }

  /**
   * Each app has its two units, on nodes that are well, as each server says. One app after the other, for while two of them are changed all the
   * time, they may never rest at the same moment; but what is killed next is of a node or of `still`, and these are well at one moment in the end.
   */
  async allWell(timeoutMs: number): Promise<void> {
    await this.#appsWell(timeoutMs);
    await seenOnce('nodes and still to be well at one moment', timeoutMs, async () => {
      const found = await Promise.all([
        ...this.#cluster.nodes.map(({ name }) => this.#unreadyNode(name)),
        this.#unwell('still'),
      ]);
      return found.find((wrong) => wrong !== '') ?? '';
    });
  }

  async #appsWell(timeoutMs: number): Promise<void> {
    for (const app of APPS) await seenOnce(`${app} to be well again`, timeoutMs, () => this.#unwell(app));
  }

  async #unreadyNode(name: string): Promise<string> {
    return isReady(await this.#cluster.client.get(KINDS.nodes, { name })) ? '' : `${name} is not ready`;
  }

  /** All of it at one moment; to be called when nobody changes anything any more. */
  async atRest(timeoutMs: number): Promise<void> {
    await seenOnce('all apps to be well at one moment', timeoutMs, async () => {
      const found = await Promise.all(APPS.map((app) => this.#unwell(app)));
      return found.find((wrong) => wrong !== '') ?? '';
    });
  }

  /** What is wrong with an app, as each server says; '': nothing. */
  async #unwell(app: string): Promise<string> {
    const { namespace } = this.#apps;
    const { items } = await this.#cluster.client.list(KINDS.pods, { namespace, labels: `${LABELS.app}=${app}` });
    const pods = items.filter(isPodReady).map((pod) => pod.status?.podIP ?? '');
    const found = await Promise.all(
      this.#worlds.map(async (world) => {
        const answer = await world.api('GET', `/apps/${app}`, { token: this.#token });
        if (answer.status !== 200) return `${answer.status} ${answer.text}`;
        const states = answer.json<{ Units: { State: string }[] }>().Units.map(({ State }) => State);
        if (states.filter((state) => state === 'started').length < 2) return states.join(' ');
        const { status, text } = await world.fetchApp(app);
        if (status !== 200) return `${status} ${text}`;
        const routes = addressesIn(world.home, app);
        return pods.length >= 2 && pods.every((pod) => routes.has(pod)) && routes.size === pods.length
          ? ''
          : `${world.edge} sends requests to ${[...routes].join(' ')}, its pods are ${pods.join(' ')}`;
      }),
    );
    return found.find((wrong) => wrong !== '') ?? '';
  }

  /** What should not be there when nothing goes on: half-done work, pods without units. */
  async leftovers(): Promise<readonly string[]> {
    const rows = await this.#rows<{ what: string }>(
      `select 'rollout ' || id || ' of ' || app || ' is ' || state as what from rollouts where state not in ('done', 'failed')
       union all select 'deploy ' || id || ' of ' || app || ' is ' || state from deploys where finished_at is null`,
    );
    const units = await this.#rows<{ id: string }>('select id from units');
    const found = rows.map(({ what }) => what);
    if (units.length !== 2 * APPS.length) found.push(`${units.length} units`);
    const { items: pods } = await this.#cluster.client.list(KINDS.pods, { namespace: this.#apps.namespace });
    if (pods.length !== units.length) found.push(`pods: ${pods.map(({ metadata }) => metadata.name).join(', ')}`);
    const { items } = await this.#cluster.client.list(KINDS.deployments, { namespace: this.#apps.namespace });
    if (items.length !== APPS.length)
      found.push(`deployments: ${items.map(({ metadata }) => metadata.name).join(', ')}`);
    this.lastLeftovers = found;
    return found;
  }

  /** Nobody has asked for a restart: each release came to serve by one rollout. */
  async doubleRollouts(): Promise<readonly string[]> {
    const rows = await this.#rows<{ what: string }>(
      `select app || ' release ' || release || ': ' || count(*) as what from rollouts
       where state <> 'failed' and reason <> 'scale' group by app, release having count(*) > 1`,
    );
    return rows.map(({ what }) => what);
  }

  #lookAfterServers(): void {
    for (const [number, world] of this.#worlds.entries()) {
      if (this.#restarting.has(number) || readProcess(world.pid)?.zombie === false) continue;
      this.#restarting.add(number);
      this.ended.push(`server ${number + 1}: ${world.output().slice(-2_000)}`);
      const again = world.startAgain().finally(() => this.#restarting.delete(number));
      again.catch((error: unknown) => this.ended.push(`server ${number + 1} does not start: ${String(error)}`));
    }
  }

  async dispose(): Promise<void> {
    clearInterval(this.#watch);
    await this.#equal.dispose();
    await this.#apps.dispose();
    await this.#cluster.close();
    await this.#database.dispose();
    await this.#ann.dispose();
  }

  async #makeApps(): Promise<void> {
    const [first] = this.#worlds;
    if (first === undefined) throw new Error('no server');
    this.#token = await allowPush(first, this.#ann);
    for (const app of APPS) {
      const body = JSON.stringify({ name: app, platform: 'nodejs', pool: 'default' });
      const made = await first.api('POST', '/apps', { token: this.#token, body });
      if (made.status !== 200) throw new Error(made.text);
      await this.#pushFirst(first, app);
      const added = await first.api('PUT', `/apps/${app}/units?units=1`, { token: this.#token });
      if (added.status !== 200) throw new Error(added.text);
    }
    await this.allWell(120_000);
  }

  /** A machine that has too much to do may cost a server its lease: it is started again, and the push made once more. */
  async #pushFirst(server: World, app: string): Promise<void> {
    const work = await createWorkTree(nodeApp(app), this.#ann);
    let seen = '';
    const isPushed = async (): Promise<boolean> => {
      const pushed = await work.push(sshUrl(server, app));
      seen = pushed.stderr;
      return pushed.code === 0;
    };
    await until(isPushed, { what: `${app} to be pushed`, everyMs: 1_000, timeoutMs: FIRST_MS, detail: () => seen });
    await work.dispose();
  }

  async #rows<T extends object>(statement: string): Promise<T[]> {
    const client = new pg.Client({ connectionString: this.#database.url });
    await client.connect();
    try {
      return (await client.query<T>(statement)).rows;
    } finally {
      await client.end();
    }
  }
}

/** `look` answers what is wrong; '': nothing. */
async function seenOnce(what: string, timeoutMs: number, look: () => Promise<string>): Promise<void> {
  let seen = '';
  const isWell = async (): Promise<boolean> => {
    seen = await look().catch((error: unknown) => String(error));
    return seen === '';
  };
  await until(isWell, { what, timeoutMs, everyMs: 200, detail: () => seen });
}
