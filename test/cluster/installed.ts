/** A platform that `tancho install` has put into a cluster, and what its admin does with it. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { KubernetesClient } from '../../src/kubernetes/client.ts';
import { type Kind, KINDS } from '../../src/kubernetes/kinds.ts';
import { kubeconfigAccess } from '../../src/kubernetes/kubeconfig.ts';
import type { KubernetesObject, Pod } from '../../src/kubernetes/objects.ts';
import { randomHex } from '../../src/lib/ids.ts';
import { builtProgram } from '../support/built.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { type Ran, request, run } from '../support/world.ts';
import type { Cluster } from './cluster.ts';
import { describeNamespace } from './describe.ts';
import { forward } from './forward.ts';

const COME_UP_MS = 180_000;
const ADMIN = { email: 'admin@example.com', password: 'correct horse battery' };
export const NAMESPACE = 'tancho';
export const APPS = 'tancho-apps';
const DAEMON_SETS: Kind<KubernetesObject> = {
  ...{ apiVersion: 'apps/v1', kind: 'DaemonSet', plural: 'daemonsets', isNamespaced: true },
};

export interface Place extends Pick<Cluster, 'kubeconfig' | 'pods' | 'base' | 'serverBase' | 'page' | 'outside'> {
  /** `host:port`. */
  readonly registry: string;
}

/** Null: the cluster of the run is not ours. */
export function placeOfRun(): Place | null {
  const given = (name: string): string => process.env[`TANCHO_TEST_KUBERNETES${name}`] ?? '';
  const [outside, pods] = [given('_OUTSIDE'), given('_PODS').split(',')];
  const images = { base: given('_BASE'), serverBase: given('_SERVER_BASE'), page: given('_PAGE') };
  return outside === '' ? null : { kubeconfig: given(''), registry: given('_REGISTRY'), outside, pods, ...images };
}

interface Counted extends KubernetesObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly desiredNumberScheduled?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberReady?: number;
    readonly numberAvailable?: number;
  };
}

export class Installed {
  readonly client: KubernetesClient;
  readonly #place: Place;
  readonly #home: string;
  readonly #database: string;
  readonly #reach: () => Promise<() => Promise<void>>;
  #leave: () => Promise<void>;
  readonly #ends: readonly (() => Promise<void>)[];
  readonly #name = randomHex(8);
  readonly #pushed = new Set<string>();
  #token = '';

  private constructor(parts: {
    place: Place;
    client: KubernetesClient;
    home: string;
    database: string;
    reach: () => Promise<() => Promise<void>>;
    leave: () => Promise<void>;
    ends: readonly (() => Promise<void>)[];
  }) {
    this.#place = parts.place;
    this.client = parts.client;
    this.#home = parts.home;
    this.#database = parts.database;
    this.#reach = parts.reach;
    this.#leave = parts.leave;
    this.#ends = parts.ends;
  }

  /** Null: there is no PostgreSQL, which was printed. */
  static async prepare(place: Place): Promise<Installed | null> {
    const database = await createTestDatabase();
    if (database === null) return null;
    const home = await mkdtemp(path.join(os.tmpdir(), 'tancho-installer-'));
    const url = new URL(database.url);
    const target = { host: url.hostname, port: Number(url.port) };
    url.hostname = place.outside;
    const reach = (): Promise<() => Promise<void>> => forward({ host: place.outside, port: target.port }, () => target);
    const leave = await reach();
    const client = new KubernetesClient(await kubeconfigAccess(place.kubeconfig, null));
    const removeHome = (): Promise<void> => rm(home, { recursive: true, force: true });
    return new Installed({
      place,
      client,
      home,
      database: url.href,
      ...{ reach, leave },
      ends: [() => database.dispose(), removeHome],
    });
  }

  /** The command line on the machine of whoever installs, who is logged in once there are servers. */
  async cli(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
    const main = path.join(await builtProgram(), 'main.js');
    const own = { PATH: process.env['PATH'] ?? '', HOME: this.#home, TANCHO_HOME: path.join(this.#home, 'tancho') };
    const login = this.#token === '' ? {} : { TANCHO_TARGET: await this.apiUrl(), TANCHO_TOKEN: this.#token };
    const options = { cwd: this.#home, env: { ...own, ...login, ...env }, timeoutMs: COME_UP_MS };
    const ran = await run(process.execPath, [main, ...args], options);
    return ran;
  }

  /** Its name; pushed the first time. */
  async image(tag: string): Promise<string> {
    // Nodes keep what they have pulled by a name.
    const { registry, serverBase } = this.#place;
    const name = `${this.#outside(registry)}/tancho-${this.#name}:${tag}`;
    if (!this.#pushed.has(name)) await this.#must(['install', 'image', name, '--base', serverBase]);
    this.#pushed.add(name);
    return name;
  }

  async apply(image: string, more: readonly string[] = [], env: Record<string, string> = {}): Promise<string> {
    const { kubeconfig, pods, registry, base, outside } = this.#place;
    const where = ['--kubeconfig', kubeconfig];
    const settings = [
      ...['--database', this.#database, '--service', 'ClusterIP', ...pods.flatMap((network) => ['--from', network])],
      ...['--registry', `${this.#outside(registry)}/apps`, '--base', `*=${this.#outside(base)}`],
      ...['--set', `TANCHO_PROVIDER_ALLOW=${outside}`, '--set', `TANCHO_ADMIN_EMAIL=${ADMIN.email}`],
      ...['--set', `TANCHO_ADMIN_PASSWORD=${ADMIN.password}`],
    ];
    return this.#must(['install', 'kubernetes', '--image', image, ...settings, ...more, '--apply', ...where], env);
  }

  /** Of an app that answers `a page`. */
  get page(): string {
    return this.#outside(this.#place.page);
  }

  /** As pods, nodes and this machine reach a registry on its loopback. */
  #outside(name: string): string {
    return name.replace(/^127\.0\.0\.1(?=:)/, this.#place.outside);
  }

  remove(): Promise<string> {
    return this.#must(['install', 'kubernetes', '--remove', '--yes', '--kubeconfig', this.#place.kubeconfig]);
  }

  async #must(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
    const { code, stdout, stderr } = await this.cli(args, env);
    if (code !== 0) throw new Error(`tancho ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Every pod of it is of the newest kind and ready, and none of an older one is left. */
  async isUp(kind: 'Deployment' | 'DaemonSet', name: string): Promise<void> {
    const of: Kind<KubernetesObject> = kind === 'Deployment' ? KINDS.deployments : DAEMON_SETS;
    let seen = '';
    const isSo = async (): Promise<void> =>
      until(
        async () => {
          const found: Counted | null = await this.client.get(of, { namespace: NAMESPACE, name });
          seen = JSON.stringify(found?.status);
          if (found === null || found.status?.observedGeneration !== found.metadata.generation) return false;
          const { replicas, updatedReplicas, readyReplicas, ...nodes } = found.status ?? {};
          const { desiredNumberScheduled: all = 0, updatedNumberScheduled, numberReady } = nodes;
          if (kind === 'DaemonSet') return all > 0 && updatedNumberScheduled === all && numberReady === all;
          const wanted = found.spec?.replicas;
          return [replicas, updatedReplicas, readyReplicas].every((count) => count === wanted);
        },
        { what: `${kind} ${name}`, timeoutMs: COME_UP_MS, everyMs: 200, detail: () => seen },
      );
    await isSo().catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await this.troubles()}`);
    });
    await until(async () => (await this.pods()).every(({ metadata }) => metadata.deletionTimestamp === undefined), {
      ...{ what: 'the pods before to be gone', timeoutMs: COME_UP_MS, everyMs: 200 },
    });
  }

  /** Every pod of it has been ready for `minReadySeconds`: those that have not are all replaced at once by a change. */
  async isAvailable(name: string): Promise<void> {
    const isSo = async (): Promise<boolean> => {
      const found: Counted | null = await this.client.get(DAEMON_SETS, { namespace: NAMESPACE, name });
      return found?.status?.numberAvailable === found?.status?.desiredNumberScheduled;
    };
    await until(isSo, { what: `all pods of ${name} to be available`, timeoutMs: COME_UP_MS, everyMs: 200 });
  }

  async pods(): Promise<readonly Pod[]> {
    return (await this.client.list(KINDS.pods, { namespace: NAMESPACE })).items;
  }

  /** Their names, of those that are not about to end. */
  async edgePods(): Promise<readonly string[]> {
    return (await this.pods())
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.startsWith('tancho-edges-'));
  }

  /** Which containers do not run and why, the last lines of all, and what the cluster says of it. */
  async troubles(): Promise<string> {
    const lines: string[] = [];
    for (const { metadata, status } of await this.pods()) {
      for (const { ready, state, lastState } of status?.containerStatuses ?? [])
        if (!ready) lines.push(`${metadata.name}: ${JSON.stringify({ state, lastState })}`);
    }
    return [...lines, await this.#words(), await describeNamespace(this.client, NAMESPACE)].join('\n');
  }

  async #words(): Promise<string> {
    const lines: string[] = [];
    for (const pod of await this.pods()) {
      const { name } = pod.metadata;
      const last = await this.lastLines(pod, 15).catch((error: unknown) => [String(error)]);
      lines.push(...last.map((line) => `${name} ${line}`));
    }
    return lines.join('\n');
  }

  /** Of what its first container has printed. */
  async lastLines({ metadata, spec }: Pod, lines: number): Promise<readonly string[]> {
    const found: string[] = [];
    const options = { container: spec.containers[0]?.name ?? '', lines };
    for await (const part of this.client.log(metadata, options, AbortSignal.timeout(2_000)))
      found.push(...part.map(({ text }) => text));
    return found;
  }

  /** Whether another server has taken the lease of the one in that pod. */
  async isFollowed({ metadata: { name } }: Pod): Promise<boolean> {
    return !(await this.#isLease("key = 'control:' || owner and starts_with(owner, $1)", [`${name}-`]));
  }

  /** Whether all servers have renewed their own leases, and one that of the duties. */
  async haveTheirLeases(): Promise<boolean> {
    const own = "(key = 'duties' or starts_with(key, 'control:'))";
    return !(await this.#isLease(`${own} and expires_ms <= extract(epoch from clock_timestamp()) * 1000`));
  }

  async #isLease(where: string, values: readonly string[] = []): Promise<boolean> {
    const client = new pg.Client({ connectionString: this.#database, connectionTimeoutMillis: 5_000 });
    await client.connect();
    try {
      return (await client.query(`select 1 from leases where ${where}`, [...values])).rowCount !== 0;
    } finally {
      await client.end();
    }
  }

  /** Meanwhile no pod reaches the database. */
  async withoutDatabase(work: () => Promise<void>): Promise<void> {
    await this.#leave();
    try {
      await work();
    } finally {
      this.#leave = await this.#reach();
    }
  }

  async #address(name: string): Promise<string> {
    const service = await this.client.get(KINDS.services, { namespace: NAMESPACE, name });
    return service?.spec.clusterIP ?? '';
  }

  /** `host:port` where apps answer. */
  async appsAt(name: 'tancho-edge' | 'tancho-edges'): Promise<string> {
    return `${await this.#address(name)}:80`;
  }

  async apiUrl(): Promise<string> {
    return `http://${await this.#address('tancho')}`;
  }

  async gitUrl(app: string): Promise<string> {
    return `ssh://git@${await this.#address('tancho-edge')}:22/${app}.git`;
  }

  async login(): Promise<string> {
    const { email, password } = ADMIN;
    const answer = await request(await this.apiUrl(), 'POST', `/users/${email}/tokens`, {
      body: JSON.stringify({ password }),
    });
    if (answer.status !== 200) throw new Error(`login: ${answer.status} ${answer.text}`);
    this.#token = answer.json<{ token: string }>().token;
    return this.#token;
  }

  /** Takes all of it away, with the namespaces and what is in them. */
  async dispose(): Promise<void> {
    for (const name of [APPS, NAMESPACE]) {
      await this.client.delete(KINDS.namespaces, { name });
      await until(async () => (await this.client.get(KINDS.namespaces, { name })) === null, {
        ...{ what: `the namespace ${name} to be gone`, timeoutMs: COME_UP_MS, everyMs: 200 },
      });
    }
    this.client.close();
    for (const end of [this.#leave, ...this.#ends]) await end();
  }
}
