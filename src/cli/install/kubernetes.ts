/** `tancho install kubernetes`: manifests to print, to apply, and to take away again. */
import { join } from 'node:path';
import { homedir } from 'node:os';
import { SETTINGS } from '../../config/schema.ts';
import { blockOf } from '../../lib/ipv4.ts';
import { newKeyLine } from '../../lib/seal.ts';
import type { Cli } from '../cli.ts';
import { CliError, UsageError } from '../errors.ts';
import { confirm } from '../prompt.ts';
import type { TargetCluster } from './cluster.ts';
import { EDGES, edgeManifests } from './edge-manifests.ts';
import {
  type EdgesWanted,
  type PlatformInstallation,
  type ClusterObject,
  earlierRights,
  LEAVE_SECONDS,
  manifestsOf,
  NAME,
  PORTS,
} from './manifests.ts';

export interface KubernetesFlags {
  readonly image?: string;
  readonly database?: string;
  readonly secretKey?: string;
  readonly from?: readonly string[];
  readonly registry?: string;
  readonly base?: readonly string[];
  readonly domain: string;
  readonly servers: string;
  readonly namespace: string;
  readonly appsNamespace: string;
  readonly pullSecret?: string;
  readonly service: string;
  readonly edges?: string;
  readonly edgeToken?: string;
  readonly set?: readonly string[];
  readonly builds?: boolean;
  readonly showUsage?: boolean;
  readonly apply?: boolean;
  readonly remove?: boolean;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly yes?: boolean;
}

const SECRET: ReadonlySet<string> = new Set(
  Object.values(SETTINGS)
    .filter(({ secret }) => secret === true)
    .map(({ variable }) => variable),
);
const KEY = 'TANCHO_SECRET_KEY';
/** As clusters read it: there `off` without quotes is no text. */
const YAML = { lineWidth: 0, version: '1.1' } as const;
const WORD = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const SERVICE_TYPES = ['LoadBalancer', 'NodePort', 'ClusterIP'];

export async function installKubernetes(cli: Cli, flags: KubernetesFlags): Promise<void> {
  if (flags.remove === true) return remove(cli, flags);
  if (flags.apply !== true) {
    const { stringify } = await import('yaml');
    const newKey = (): string => {
      cli.warn(`The key in the Secret ${NAME} is a new one: keep it, and give it to later runs (${KEY}).`);
      return newKeyLine();
    };
    const manifests = allOf(installationOf(cli, flags, newKey));
    cli.show(manifests, () =>
      manifests
        .map((manifest) => stringify(manifest, YAML))
        .join('---\n')
        .trimEnd(),
    );
    return;
  }
  const cluster = await clusterOf(cli, flags);
  const before = await cluster.secret(flags.namespace, NAME);
  const installation = installationOf(cli, flags, () => before[KEY] ?? newKeyLine());
  if (before[KEY] !== undefined && before[KEY] !== installation.secrets[KEY]) {
    throw new CliError(
      'The servers there have another key, with which their secrets are sealed.',
      'Leave --secret-key and TANCHO_SECRET_KEY out: the key that is there is kept.',
    );
  }
  const manifests = allOf(installation);
  await cli.during('Applying', async (say) => {
    for (const manifest of manifests) {
      await cluster.apply(manifest);
      say(titleOf(manifest));
    }
    const titles = new Set(manifests.map(titleOf));
    for (const manifest of everyEdge(installation).filter((one) => !titles.has(titleOf(one))))
      if (await cluster.remove(manifest)) say(`without ${titleOf(manifest)}`);
    for (const title of await removeEarlierRights(cluster, flags)) say(`without ${title}`);
  });
  cli.note(`Watch it come up: kubectl -n ${flags.namespace} rollout status deployment/${NAME}`);
}

async function remove(cli: Cli, flags: KubernetesFlags): Promise<void> {
  const cluster = await clusterOf(cli, flags);
  const what = `the servers in the namespace ${flags.namespace} of ${cluster.description}`;
  if (flags.yes !== true) await confirm(cli, `Remove ${what}? Apps go on, and the database stays.`, '--yes');
  const none = {
    image: '',
    servers: 0,
    serviceType: 'ClusterIP',
    pullSecret: null,
    edges: null,
    settings: {},
    secrets: {},
  };
  const { namespace, appsNamespace } = flags;
  const bare = { ...none, namespace, appsNamespace, buildsCode: false, showsUsage: true };
  const all = [...manifestsOf(bare), ...everyEdge(bare)];
  await cli.during('Removing', async (say) => {
    // With its key: without it nobody reads the secrets in the database.
    for (const manifest of all.reverse().filter(isRemoved)) {
      if (await cluster.remove(manifest)) say(titleOf(manifest));
    }
    for (const title of await removeEarlierRights(cluster, flags)) say(title);
  });
  cli.note(
    `The secret ${NAME} is kept, for it has the key of the database. To remove it, too: kubectl delete namespace ${namespace}`,
  );
}

/** Throws UsageError. */
function installationOf(cli: Cli, flags: KubernetesFlags, newKey: () => string): PlatformInstallation {
  const { env } = cli.context;
  const { image, namespace, appsNamespace, service } = flags;
  const pullSecret = flags.pullSecret ?? null;
  const database = flags.database ?? env['TANCHO_DATABASE_URL'] ?? '';
  if (image === undefined) throw new UsageError('Name the image of Tancho: --image registry.example.com/tancho:1.');
  if (!database.startsWith('postgres'))
    throw new UsageError('Several servers need a PostgreSQL: --database postgres://...');
  if (flags.from === undefined) throw new UsageError('Say from which network edges reach apps: --from 10.42.0.0/16.');
  const wrong = flags.from.find((network) => blockOf(network) === null);
  if (wrong !== undefined)
    throw new UsageError(
      `--from is a network of IPv4, such as 10.42.0.0/16, once for each; it is not ${JSON.stringify(wrong)}.`,
    );
  const servers = Number(flags.servers);
  if (!Number.isInteger(servers) || servers < 1 || servers > 100)
    throw new UsageError('--servers is a number from 1 to 100.');
  for (const name of [namespace, appsNamespace]) {
    if (!WORD.test(name)) throw new UsageError(`${JSON.stringify(name)} cannot be the name of a namespace.`);
  }
  if (!SERVICE_TYPES.includes(service)) throw new UsageError(`--service is one of ${SERVICE_TYPES.join(', ')}.`);
  const options = new URLSearchParams([
    ['namespace', appsNamespace],
    ...flags.from.map((network): [string, string] => ['from', network]),
    ...(pullSecret === null ? [] : [['pull-secret', pullSecret] as [string, string]]),
  ]);
  const more = Object.fromEntries((flags.set ?? []).map(variable));
  const all: Record<string, string> = {
    TANCHO_API_LISTEN: `:${PORTS.api}`,
    TANCHO_EDGE_LISTEN: `:${PORTS.apps}`,
    TANCHO_TLS_LISTEN: `:${PORTS['apps-tls']}`,
    TANCHO_SSH_LISTEN: `:${PORTS.ssh}`,
    TANCHO_EDGE_DRAIN: `${2 * LEAVE_SECONDS}`,
    TANCHO_PROCESS_ENGINE: 'off',
    TANCHO_ENGINES: `cluster=kubernetes:in-cluster?${options.toString().replaceAll('%2F', '/')}`,
    TANCHO_AUTH_REGISTRATION: 'closed',
    TANCHO_DOMAIN: flags.domain,
    ...(flags.registry !== undefined && { TANCHO_IMAGES_REGISTRY: flags.registry }),
    ...(flags.base !== undefined && { TANCHO_IMAGES_BASE: flags.base.join(',') }),
    TANCHO_DATABASE_URL: database,
    [KEY]: flags.secretKey ?? env[KEY] ?? newKey(),
    ...more,
  };
  const entries = Object.entries(all);
  return {
    ...{ namespace, appsNamespace, image, servers, serviceType: service, pullSecret, edges: edgesOf(cli, flags) },
    buildsCode: flags.builds === true,
    showsUsage: flags.showUsage === true,
    settings: Object.fromEntries(entries.filter(([name]) => !SECRET.has(name))),
    secrets: Object.fromEntries(entries.filter(([name]) => SECRET.has(name))),
  };
}

function allOf(installation: PlatformInstallation): ClusterObject[] {
  return [...manifestsOf(installation), ...edgeManifests(installation, installation.edges)];
}

function isRemoved({ kind, metadata: { name } }: ClusterObject): boolean {
  return kind !== 'Namespace' && (kind !== 'Secret' || name === EDGES);
}

/** But for those that another installation goes by, whose servers would lose them. Titles of what is removed. */
async function removeEarlierRights(cluster: TargetCluster, of: KubernetesFlags): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const [binding, role] of earlierRights(of.appsNamespace)) {
    const subjects = await cluster.subjects(binding);
    if (subjects?.some((subject) => subject !== `${of.namespace}/${NAME}`) === true) continue;
    for (const one of [binding, role]) if (await cluster.remove(one)) removed.push(titleOf(one));
  }
  return removed;
}

/** As they may have been wanted before. */
function everyEdge(installation: PlatformInstallation): ClusterObject[] {
  const all = (['nodes', 1] as const).flatMap((where) => edgeManifests(installation, { where, token: '' }));
  return [...new Map(all.map((manifest) => [titleOf(manifest), manifest])).values()];
}

/** Throws UsageError. */
function edgesOf(cli: Cli, { edges, edgeToken }: KubernetesFlags): EdgesWanted | null {
  if (edges === undefined) return null;
  const where = edges === 'nodes' ? edges : Number(edges);
  if (where !== 'nodes' && (!Number.isInteger(where) || where < 1 || where > 1_000))
    throw new UsageError('--edges is "nodes", for one on each, or a number from 1 to 1000.');
  const token = edgeToken ?? cli.context.env['TANCHO_EDGE_TOKEN'] ?? '';
  if (token !== '') return { where, token };
  throw new UsageError(
    'Edges follow servers by a token of theirs.',
    'Once the servers run: set TANCHO_EDGE_TOKEN to what "tancho edge token-create cluster" prints.',
  );
}

function variable(text: string): [string, string] {
  const [, name, value] = /^(TANCHO_[A-Z_]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new UsageError('--set takes TANCHO_VARIABLE=value.');
  return [name, value];
}

function titleOf({ kind, metadata: { name, namespace } }: ClusterObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

async function clusterOf(cli: Cli, { kubeconfig, context }: KubernetesFlags): Promise<TargetCluster> {
  const { openCluster } = await import('./cluster.ts');
  const { KUBECONFIG } = cli.context.env;
  return openCluster(kubeconfig ?? KUBECONFIG ?? join(homedir(), '.kube', 'config'), context ?? null);
}
