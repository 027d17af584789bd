/** Manifests as agreed, applied to a small API server, upgraded and removed there; and whether the rights in them are enough, and no more. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { CliWorld } from '../../../test/support/cli-world.ts';
import { ApiServer } from '../../kubernetes/testing/api-server.ts';
import type { ClusterObject } from './manifests.ts';

const GOLDEN = new URL('../../../test/golden/install-kubernetes.yaml', import.meta.url);
const KEY = `00000000 ${'A'.repeat(43)}=`;
const ARGS = [
  ...['install', 'kubernetes', '--image', 'registry.example.com/tancho:1', '--from', '10.42.0.0/16'],
  ...['--database', 'postgres://tancho:hush@db.example.com/tancho', '--registry', 'registry.example.com/apps'],
  ...['--base', '*=registry.example.com/base:1', '--domain', 'apps.example.com', '--pull-secret', 'registry'],
  ...['--set', 'TANCHO_MAIL_URL=smtps://mail.example.com', '--set', 'TANCHO_UNITS_MEMORY=1G'],
];

let world: CliWorld;
beforeAll(() => {
  world = new CliWorld();
});
afterAll(() => world.dispose());

async function printed(...more: string[]): Promise<ClusterObject[]> {
  const { out, err } = await world.run([...ARGS, '--secret-key', KEY, ...more]);
  expect(err).toBe('');
  return parseAllDocuments(out, { version: '1.1' }).map((document) => document.toJS() as ClusterObject);
}

describe('the manifests', () => {
  it('are as agreed (UPDATE_GOLDEN=1 writes them)', async () => {
    const { code, out } = await world.run([...ARGS, '--secret-key', KEY]);
    if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(GOLDEN, out);
    expect(code).toBe(0);
    expect(out).toBe(await readFile(GOLDEN, 'utf8'));
  });

  it('have secret settings in the secret only', async () => {
    const account = ['--set', 'TANCHO_ACME_FALLBACK_EXTERNAL_ACCOUNT=id:hush'];
    const { out } = await world.run([...ARGS, '--secret-key', KEY, ...account]);
    expect(out).not.toContain('hush');
    const secret = (await printed(...account)).find(({ kind }) => kind === 'Secret');
    const values = Object.entries(secret?.['data'] as Record<string, string>).map(([name, value]) => [
      name,
      Buffer.from(value, 'base64').toString(),
    ]);
    expect(Object.fromEntries(values)).toEqual({
      TANCHO_DATABASE_URL: 'postgres://tancho:hush@db.example.com/tancho',
      TANCHO_SECRET_KEY: KEY,
      TANCHO_MAIL_URL: 'smtps://mail.example.com',
      TANCHO_ACME_FALLBACK_EXTERNAL_ACCOUNT: 'id:hush',
    });
  });

  it('have texts where clusters want texts, whichever YAML they read', async () => {
    const deployment = (await printed()).find(({ kind }) => kind === 'Deployment');
    const [container] = (deployment as unknown as { spec: { template: { spec: { containers: { env: object[] }[] } } } })
      .spec.template.spec.containers;
    expect(container?.env).toContainEqual({ name: 'TANCHO_PROCESS_ENGINE', value: 'off' });
  });

  it('give the rights that docs/engines.md names, and those of nodes where they are asked for', async () => {
    const page = await readFile(new URL('../../../docs/engines.md', import.meta.url), 'utf8');
    const manifest = /## The login\n[^]*?```yaml\n([^]+?)```/.exec(page)?.[1] ?? '';
    const rulesIn = (objects: readonly Record<string, unknown>[]): unknown =>
      objects.find(({ kind }) => kind === 'Role')?.['rules'];
    const documents = parseAllDocuments(manifest).map((one) => one.toJS() as Record<string, unknown>);
    expect(rulesIn(documents)).toEqual(rulesIn(await printed()));
    expect((await printed()).map(({ kind }) => kind)).not.toContain('ClusterRole');
    expect((await printed('--show-usage')).map(({ kind }) => kind)).toContain('ClusterRole');
  });

  it.each([
    [['install', 'kubernetes'], '--image'],
    [['install', 'kubernetes', '--image', 'x'], '--database'],
    [['install', 'kubernetes', '--image', 'x', '--database', 'postgres://x'], '--from'],
    [[...ARGS, '--from', '10.1.0.0/16,10.2.0.0/16'], '--from'],
    [[...ARGS, '--servers', '0'], '--servers'],
    [[...ARGS, '--set', 'PATH=/'], '--set'],
    [[...ARGS, '--service', 'Other'], '--service'],
    [[...ARGS, '--namespace', 'A b'], 'namespace'],
    [[...ARGS, '--edges', 'some'], '--edges'],
    [[...ARGS, '--edges', 'nodes'], 'TANCHO_EDGE_TOKEN'],
  ])('are refused without what they need: %s', async (args, reported) => {
    const { code, err } = await world.run(args);
    expect(code).toBe(2);
    expect(err).toContain(reported);
  });
});

interface Workload {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly [part: string]: unknown;
        readonly containers: readonly Container[];
        readonly securityContext: { readonly sysctls?: readonly object[] };
      };
    };
  };
}

interface Container {
  readonly readinessProbe: object;
  readonly command: readonly string[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number; readonly hostPort?: number }[];
  readonly env: readonly object[];
}

interface Door {
  readonly spec: { readonly ports: readonly { readonly port: number; readonly targetPort: string }[] };
}

describe('apps', () => {
  it.each([[['--edges', '3']], [['--edges', '3', '--builds']], [['--edges', 'nodes']]])(
    'are served in pods at the very ports that clients come to, which users without rights may have: %s',
    async (more) => {
      const all = await printed(...more, '--edge-token', 'hush-hush');
      const doors = all.filter(({ kind, metadata: { name } }) => kind === 'Service' && name !== 'tancho');
      const ports = doors.flatMap((one) => (one as unknown as Door).spec.ports);
      const outside = new Map(ports.map(({ port, targetPort }) => [targetPort, port]));
      const pods = all
        .filter(({ kind }) => kind === 'Deployment' || kind === 'DaemonSet')
        .map((one) => (one as unknown as Workload).spec.template.spec);
      expect(pods).toHaveLength(2);
      for (const { containers, securityContext } of pods) {
        const [container] = containers;
        const own = (container?.ports ?? []).filter(({ name }) => name.startsWith('apps'));
        expect(own.map(({ name, hostPort }) => hostPort ?? outside.get(name))).toEqual([80, 443]);
        expect(own.map(({ containerPort }) => containerPort)).toEqual([80, 443]);
        expect(container?.env).toContainEqual({ name: 'TANCHO_EDGE_LISTEN', value: ':80' });
        expect(container?.env).toContainEqual({ name: 'TANCHO_TLS_LISTEN', value: ':443' });
        expect(securityContext.sysctls).toEqual([{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }]);
      }
    },
  );
});

it.each([
  [[], { httpGet: { path: '/healthcheck', port: 'apps' } }],
  [['--set', 'TANCHO_EDGE_PROXY_PROTOCOL=on'], { tcpSocket: { port: 'apps' } }],
  [['--set', 'TANCHO_EDGE=off'], { httpGet: { path: '/healthcheck', port: 'api' } }],
])('a pod gets requests as long as its edge serves, whether or not the database answers: %s', async (more, probe) => {
  const deployment = (await printed(...more)).find(({ kind }) => kind === 'Deployment') as unknown as Workload;
  expect(deployment.spec.template.spec.containers[0]?.readinessProbe).toMatchObject(probe);
});

/** What Pod Security allows in the namespaces of the servers and of the apps. */
const levels = (all: readonly ClusterObject[]): unknown[] =>
  all
    .filter(({ kind }) => kind === 'Namespace')
    .map(({ metadata }) => metadata.labels['pod-security.kubernetes.io/enforce']);

describe('edges of their own', () => {
  it('are one on each node at its ports, without a right and with their token in a secret of theirs', async () => {
    const all = await printed('--edges', 'nodes', '--edge-token', 'hush-hush', '--set', 'TANCHO_EDGE_WORKERS=3');
    const { spec } = (all.find(({ kind }) => kind === 'DaemonSet') as unknown as Workload).spec.template;
    expect(spec['automountServiceAccountToken']).toBe(false);
    expect(spec['serviceAccountName']).toBeUndefined();
    const [container] = spec.containers;
    expect(container?.ports.map(({ hostPort }) => hostPort)).toEqual([80, 443]);
    expect(container?.command).toContain('http://tancho.tancho');
    expect(container?.env).toContainEqual({ name: 'TANCHO_EDGE_WORKERS', value: '3' });
    expect(JSON.stringify(container?.env)).not.toContain('TANCHO_DOMAIN');
    const secrets = all.filter(({ kind }) => kind === 'Secret').map((one) => JSON.stringify(one));
    expect(secrets.filter((text) => text.includes(Buffer.from('hush-hush').toString('base64')))).toHaveLength(1);
    const services = all.filter(({ kind }) => kind === 'Service').map((one) => JSON.stringify(one['spec']));
    expect(services.filter((text) => text.includes('tancho-edges'))).toEqual([]);
    // Which "restricted" forbids.
    expect(levels(all)).toEqual(['privileged', 'restricted']);
  });

  it('are so many behind a service, where a number is given', async () => {
    const all = await printed('--edges', '3', '--edge-token', 'hush-hush');
    const named = all.filter(({ metadata: { name } }) => name === 'tancho-edges').map(({ kind }) => kind);
    expect(named).toEqual(['Secret', 'Deployment', 'PodDisruptionBudget', 'Service']);
    expect(
      JSON.stringify(all.find(({ kind, metadata: { name } }) => kind === 'Deployment' && name === 'tancho-edges')),
    ).not.toContain('hostPort');
    expect(levels(all)).toEqual(['restricted', 'restricted']);
  });
});

describe('in a cluster', () => {
  let folder: string;
  let server: ApiServer;
  let there: string[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tancho-install-'));
    server = new ApiServer();
    await server.start();
    const named = (of: object): object => ({ name: 'small', ...of });
    const config = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'small' },
      clusters: [named({ cluster: { server: server.url } })],
      users: [named({ user: { token: 'any' } })],
      contexts: [named({ context: { cluster: 'small', user: 'small' } })],
    };
    await writeFile(join(folder, 'kubeconfig'), JSON.stringify(config), { mode: 0o600 });
    there = ['--kubeconfig', join(folder, 'kubeconfig')];
  });
  afterEach(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  const find = (plural: string, name = 'tancho', namespace = 'tancho'): Record<string, unknown> | null =>
    server.store.find(plural, { name, namespace }) as Record<string, unknown> | null;
  const keyThere = (): string => {
    const { data = {} } = (find('secrets') ?? {}) as { data?: Record<string, string> };
    return Buffer.from(data['TANCHO_SECRET_KEY'] ?? '', 'base64').toString();
  };

  it('they are applied, and applied again with another image the key stays', async () => {
    const first = await world.run([...ARGS, '--apply', ...there]);
    expect(first.code, first.err).toBe(0);
    expect(first.out).toContain('Deployment tancho/tancho');
    const key = keyThere();
    expect(key).toMatch(/^[0-9a-f]{8} .{44}$/);
    const upgrade = await world.run([...ARGS, '--apply', '--image', 'registry.example.com/tancho:2', ...there]);
    expect(upgrade.code, upgrade.err).toBe(0);
    expect(JSON.stringify(find('deployments'))).toContain('registry.example.com/tancho:2');
    expect(keyThere()).toBe(key);
    const other = await world.run([...ARGS, '--apply', '--secret-key', KEY, ...there]);
    expect(other.code).toBe(1);
    expect(other.err).toContain('another key');
    expect(keyThere()).toBe(key);
  });

  it('servers and edges are replaced where nothing but a secret of theirs is another one', async () => {
    const edges = ['--edges', '2', '--edge-token'];
    const templates = async (...more: string[]): Promise<string[]> => {
      const { code, err } = await world.run([...ARGS, ...edges, ...more, '--apply', ...there]);
      expect(code, err).toBe(0);
      return ['tancho', 'tancho-edges'].map((name) =>
        JSON.stringify((find('deployments', name) as unknown as Workload).spec),
      );
    };
    const [servers, own] = await templates('hush-hush');
    expect(await templates('hush-hush')).toEqual([servers, own]);
    const [moved, same] = await templates('hush-hush', '--database', 'postgres://tancho:hush@other.example.com/tancho');
    expect(moved).not.toBe(servers);
    expect(moved).not.toContain('other.example.com');
    expect(same).toBe(own);
    const [still, other] = await templates('another');
    expect(still).toBe(servers);
    expect(other).not.toBe(own);
  });

  it('they are removed, but for the key, the namespaces and the apps', async () => {
    await world.run([...ARGS, '--apply', '--show-usage', ...there]);
    const removed = await world.run(['install', 'kubernetes', '--remove', '--yes', ...there]);
    expect(removed.code, removed.err).toBe(0);
    expect(
      ['deployments', 'services', 'serviceaccounts', 'poddisruptionbudgets'].map((plural) => find(plural)),
    ).toEqual([null, null, null, null]);
    expect(find('roles', 'tancho-tancho', 'tancho-apps')).toBeNull();
    expect(find('clusterroles', 'tancho-tancho', '')).toBeNull();
    expect(keyThere()).not.toBe('');
    const again = await world.run(['install', 'kubernetes', '--remove', '--yes', ...there]);
    expect(again.code, again.err).toBe(0);
  });

  it('two installations that share a cluster, and a namespace of apps, leave the rights of each other alone', async () => {
    const other = ['--namespace', 'other'];
    const rights = (name: string): unknown[] => [
      find('clusterroles', name, ''),
      find('clusterrolebindings', name, ''),
      find('roles', name, 'tancho-apps'),
      find('rolebindings', name, 'tancho-apps'),
    ];
    await world.run([...ARGS, '--apply', '--show-usage', ...there]);
    const second = await world.run([...ARGS, '--apply', '--show-usage', ...other, ...there]);
    expect(second.code, second.err).toBe(0);
    expect([...rights('tancho-tancho'), ...rights('tancho-other')]).not.toContain(null);
    const removed = await world.run(['install', 'kubernetes', '--remove', '--yes', ...other, ...there]);
    expect(removed.code, removed.err).toBe(0);
    expect(rights('tancho-other')).toEqual([null, null, null, null]);
    expect(rights('tancho-tancho')).not.toContain(null);
  });

  it('rights by the name that all had before are removed by the one that goes by them, and only if they were made here', async () => {
    const label = { 'app.kubernetes.io/managed-by': 'tancho-install' };
    const before = (namespace: string, labels: Record<string, string>): void => {
      server.store.create('clusterroles', { metadata: { name: 'tancho', labels } });
      const binding = { metadata: { name: 'tancho', labels }, subjects: [{ name: 'tancho', namespace }] };
      server.store.create('clusterrolebindings', binding);
    };
    const left = async (): Promise<boolean[]> => {
      const { code, err } = await world.run([...ARGS, '--apply', ...there]);
      expect(code, err).toBe(0);
      return ['clusterroles', 'clusterrolebindings'].map((plural) => find(plural, 'tancho', '') !== null);
    };
    before('other', label);
    expect(await left()).toEqual([true, true]);
    for (const plural of ['clusterroles', 'clusterrolebindings'])
      server.store.delete(plural, { name: 'tancho' }, { propagation: 'Background' });
    before('tancho', {});
    expect(await left()).toEqual([true, true]);
    for (const plural of ['clusterroles', 'clusterrolebindings'])
      server.store.delete(plural, { name: 'tancho' }, { propagation: 'Background' });
    before('tancho', label);
    expect(await left()).toEqual([false, false]);
  });

  it('edges go where they are wanted, and away when they are not', async () => {
    const apply = (...more: string[]) => world.run([...ARGS, '--apply', ...more, ...there]);
    const nodes = await apply('--edges', 'nodes', '--edge-token', 'x');
    expect(nodes.code, nodes.err).toBe(0);
    expect(find('daemonsets', 'tancho-edges')).not.toBeNull();
    await apply('--edges', '2', '--edge-token', 'x');
    expect(find('daemonsets', 'tancho-edges')).toBeNull();
    expect(find('deployments', 'tancho-edges')).not.toBeNull();
    const without = await apply();
    expect(without.out).toContain('without Deployment tancho/tancho-edges');
    expect(find('deployments', 'tancho-edges')).toBeNull();
    expect(find('secrets', 'tancho-edges')).toBeNull();
    expect(find('deployments')).not.toBeNull();
  });

  it('a login that may not is refused, with what to use instead', async () => {
    server.faults.push({ status: 403 });
    const { code, err } = await world.run([...ARGS, '--apply', ...there]);
    expect(code).toBe(1);
    expect(err).toMatch(/^Error: .*\n {2}Hint: Use a login that may make namespaces and roles/);
    expect(find('deployments')).toBeNull();
  });
});
