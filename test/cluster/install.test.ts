/**
 * `tancho install` as docs/controls.md and docs/edges.md have it, on a real cluster: an image of this program, servers that only run images, edges of their
 * own, an upgrade under load to servers that build, edges on nodes, and all of it taken away again.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Kind, KINDS } from '../../src/kubernetes/kinds.ts';
import type { KubernetesObject } from '../../src/kubernetes/objects.ts';
import { namespacePid, readProcess } from '../../src/lib/processes.ts';
import { overHttp1 } from '../support/asks.ts';
import { createIdentity, createWorkTree, type Identity, nodeApp, type WorkTree } from '../support/git.ts';
import { createLoad, type Load } from '../support/load.ts';
import { NO_POSTGRES, skipFor } from '../support/skips.ts';
import { until } from '../support/until.ts';
import { type HttpAnswer, request } from '../support/world.ts';
import { BalancedLoad } from './balanced-load.ts';
import { watchHealth } from './health-watch.ts';
import { processesOfPod } from './leftovers.ts';
import { startTimeline } from './timeline.ts';
import { APPS, Installed, NAMESPACE, placeOfRun } from './installed.ts';

const CONNECTIONS = 4;
/** A lease lasts 4.5 s, three probes of a pod 6 s. */
const AWAY_MS = 12_000;

const place = placeOfRun();
const NODE = place?.outside ?? '';
const installed = place === null ? null : await Installed.prepare(place);
const WITHOUT = place === null ? 'what pods reach outside of a cluster that is not ours is not known' : NO_POSTGRES;

describe('tancho install on a real cluster', skipFor(installed === null && WITHOUT), () => {
  let ann: Identity;
  let work: WorkTree;
  let token: string;
  let edgeToken: string;

  const platform = (): Installed => installed ?? expect.fail('no cluster');
  const api = async (method: string, path: string, body?: object): Promise<HttpAnswer> => {
    const answer = await request(await platform().apiUrl(), method, path, {
      token,
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(answer.status, answer.text).toBe(200);
    return answer;
  };
  const says = (wanted: string, ask: () => Promise<string>): Promise<void> => {
    let seen = '';
    const isSo = async (): Promise<boolean> => (seen = await ask().catch(String)) === wanted;
    return until(isSo, { what: wanted, detail: () => seen });
  };
  const overHttp = async (at: string, app: string): Promise<string> => {
    const answer = await request(`http://${at}`, 'GET', '/', { headers: { host: `${app}.localhost` } });
    return `${answer.status} ${answer.headers.location ?? answer.text}`;
  };
  const answers = (at: string, app: string, text: string): Promise<void> =>
    says(`200 ${text}`, () => overHttp(at, app));
  const redirect = async (app: string, value: 'on' | 'off'): Promise<void> => {
    const { code, stderr } = await platform().cli(['edge', 'set', `redirect-https=${value}`, '-a', app]);
    expect(code, stderr).toBe(0);
  };
  /** At the port of HTTPS, which is where plain HTTP sends everybody to; and by plain HTTP, too, from then on. */
  const answersBoth = async (at: string, app: string, text: string): Promise<void> => {
    await redirect(app, 'on');
    await says(`308 https://${app}.localhost/`, () => overHttp(at, app));
    const [address = ''] = at.split(':');
    const way = { address, port: 443, isSecure: true, isKept: false, connections: 1 };
    const secure = overHttp1({ ...way, host: `${app}.localhost` });
    await says(text, secure.ask);
    secure.close();
    await redirect(app, 'off');
    await answers(at, app, text);
  };
  /** By way of the edges of the servers, and of those of their own. */
  const steadyLoads = async (): Promise<readonly Load[]> => {
    const edges = await Promise.all((['tancho-edge', 'tancho-edges'] as const).map((name) => platform().appsAt(name)));
    const loads = edges.map((edge) => createLoad({ edge }, 'page', CONNECTIONS));
    await Promise.all(loads.map((load) => load.reached(50)));
    return loads;
  };

  beforeAll(async () => {
    ann = await createIdentity();
    work = await createWorkTree(nodeApp('built'), ann);
  });
  afterAll(async () => {
    await installed?.dispose();
    await work.dispose();
    await ann.dispose();
  });

  it('servers come up, all that they may is to be "restricted", and they deploy an image', async () => {
    const image = await platform().image('1');
    const applied = await platform().apply(image);
    expect(applied).toContain('Deployment tancho/tancho');
    await platform().isUp('Deployment', 'tancho');
    expect(await platform().pods()).toHaveLength(2);
    token = await platform().login();
    await api('POST', '/users/keys', { key: ann.publicKey, name: 'test' });
    await api('POST', '/apps', { name: 'page', platform: 'nodejs' });
    const deployed = await platform().cli(['deploy', '-a', 'page', '--image', platform().page]);
    expect(deployed.code, deployed.stdout + deployed.stderr).toBe(0);
    const added = await platform().cli(['unit', 'add', '1', '-a', 'page']);
    expect(added.code, added.stderr).toBe(0);
    await answersBoth(await platform().appsAt('tancho-edge'), 'page', 'a page');
  });

  it('such servers refuse code, with the command that lets them build', async () => {
    await api('POST', '/apps', { name: 'code', platform: 'nodejs' });
    const pushed = await work.push(await platform().gitUrl('code'));
    expect(pushed.code).not.toBe(0);
    expect(pushed.stderr).toContain('--builds (tancho install kubernetes)');
  });

  it('edges of their own come behind a Service and follow the servers', async () => {
    const made = await platform().cli(['edge', 'token-create', 'cluster']);
    edgeToken = made.stdout.trim();
    await platform().apply(await platform().image('1'), ['--edges', '2'], { TANCHO_EDGE_TOKEN: edgeToken });
    await platform().isUp('Deployment', 'tancho-edges');
    await answers(await platform().appsAt('tancho-edges'), 'page', 'a page');
    await says('following,following', async () =>
      (await api('GET', '/edges'))
        .json<{ State: string }[]>()
        .map(({ State }) => State)
        .join(),
    );
  });

  it('a database that is away for longer than leases and probes last takes no app off the air', async () => {
    const health = async (): Promise<string> =>
      String((await request(await platform().apiUrl(), 'GET', '/healthcheck')).status);
    const restarts = async (): Promise<string[]> =>
      (await platform().pods()).flatMap(({ metadata, status }) =>
        (status?.containerStatuses ?? []).map((one) => `${metadata.name} ${one.restartCount}`),
      );
    const before = await restarts();
    const loads = await steadyLoads();
    await platform().withoutDatabase(async () => {
      await says('503', health);
      await delay(AWAY_MS);
      expect(await health()).toBe('503');
    });
    await says('200', health);
    await until(() => platform().haveTheirLeases(), { what: 'all leases to be renewed' });
    const ended = await Promise.all(loads.map((load) => load.stop()));
    expect(ended.flatMap(({ failures }) => failures)).toEqual([]);
    expect(await restarts()).toEqual(before);
  });

  it('a server that stands still for longer than its lease begins anew in its pod, as the same process, and no request fails', async () => {
    const pods = await platform().pods();
    const pod = pods.find(({ spec }) => spec.containers[0]?.name === 'tancho') ?? expect.fail('no server');
    const pid = processesOfPod(pod.metadata.uid ?? '').find(isServer) ?? expect.fail('the server is no process');
    const start = readProcess(pid)?.start;
    const loads = await steadyLoads();
    process.kill(pid, 'SIGSTOP');
    try {
      await until(() => platform().isFollowed(pod), { what: 'another server to go on in its place' });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    let printed = '';
    const isAnew = async (): Promise<boolean> => {
      printed = (await platform().lastLines(pod, 200)).join('\n');
      const lost = printed.lastIndexOf('away for longer than its lease');
      return lost >= 0 && printed.lastIndexOf('is ready.') > lost;
    };
    await until(isAnew, { what: 'the server to be ready again', detail: () => printed });
    const ended = await Promise.all(loads.map((load) => load.stop()));
    expect(ended.flatMap(({ failures }) => failures)).toEqual([]);
    expect(readProcess(pid)?.start).toBe(start);
    const now = (await platform().pods()).find(({ metadata }) => metadata.uid === pod.metadata.uid);
    expect(now?.status?.containerStatuses?.map(({ restartCount }) => restartCount)).toEqual([0]);
  });

  it('an upgrade to another image, of servers that build, fails no request at servers and edges', async () => {
    const timeline = await startTimeline(platform().client, NAMESPACE);
    const loads = await steadyLoads();
    const before = (await platform().pods()).map(({ metadata }) => metadata.name);
    const more = ['--edges', '2', '--builds'];
    await platform().apply(await platform().image('2'), more, { TANCHO_EDGE_TOKEN: edgeToken });
    await platform().isUp('Deployment', 'tancho');
    await platform().isUp('Deployment', 'tancho-edges');
    const after = (await platform().pods()).map(({ metadata }) => metadata.name);
    expect(after).toHaveLength(before.length);
    expect(after.filter((name) => before.includes(name))).toEqual([]);
    const ended = await Promise.all(loads.map((load) => load.stop()));
    console.log(
      `an upgrade of all pods: ${ended.map(({ requests, failures }) => `${requests} requests, ${failures.length} failed`).join('; ')}`,
    );
    const failed = ended.flatMap(({ failures }) => failures);
    if (failed.length > 0) console.log(`${failed.join('\n')}\nmeanwhile in the cluster:\n${timeline.text()}`);
    await timeline.close();
    expect(failed).toEqual([]);
  });

  it('code that is pushed is built in their pods, and answers at every edge', async () => {
    const pushed = await work.push(await platform().gitUrl('code'));
    expect(pushed.code, pushed.stderr).toBe(0);
    await answersBoth(await platform().appsAt('tancho-edges'), 'code', 'built');
    await answers(await platform().appsAt('tancho-edge'), 'code', 'built');
  });

  it('an edge on each node takes the place of those behind the Service', async () => {
    const more = ['--edges', 'nodes', '--builds'];
    const applied = await platform().apply(await platform().image('2'), more, { TANCHO_EDGE_TOKEN: edgeToken });
    expect(applied).toContain('without Deployment tancho/tancho-edges');
    await platform().isUp('DaemonSet', 'tancho-edges');
    await answersBoth(`${NODE}:80`, 'code', 'built');
    expect(await platform().client.get(KINDS.services, { namespace: NAMESPACE, name: 'tancho-edges' })).toBeNull();
  });

  it('an upgrade of edges on nodes fails no request by way of a balancer that asks for their health', async () => {
    // The edges of the servers are in the place of those on other nodes, see edges-on-nodes.test.ts: this cluster has one.
    const edges = [`${NODE}:80`, await platform().appsAt('tancho-edge')];
    const health = watchHealth(edges);
    // So many connections that nothing waits for one: a balancer chooses the edge when it sends.
    const how = { perSecond: 50, connections: 100, away: health.away };
    const load = new BalancedLoad({ edges, apps: ['page', 'code'], ...how });
    await until(() => load.requests > 200, { what: 'requests' });
    const before = await platform().edgePods();
    // What is another one for edges alone.
    const made = await platform().cli(['edge', 'token-create', 'again']);
    const more = ['--edges', 'nodes', '--builds'];
    await platform().apply(await platform().image('2'), more, { TANCHO_EDGE_TOKEN: made.stdout.trim() });
    await platform().isUp('DaemonSet', 'tancho-edges');
    const after = await platform().edgePods();
    expect(after).toHaveLength(before.length);
    expect(after.filter((name) => before.includes(name))).toEqual([]);
    await until(() => health.away.size === 0 && health.returns[0] === 1, {
      what: 'the balancer to take the node back',
    });
    const { requests } = load;
    await until(() => load.requests > requests + 200, { what: 'requests by way of the new edge' });
    await load.stop();
    await health.stop();
    console.log(`an upgrade of an edge on its node: ${load.requests} requests, ${load.lost.length} failed`);
    expect(load.lost).toEqual([]);
  }, 300_000);

  it('what is removed leaves the key, the namespaces and the apps, and nothing else', async () => {
    await platform().remove();
    const own = 'app.kubernetes.io/managed-by=tancho-install';
    const kind = (apiVersion: string, plural: string, isNamespaced = true): Kind<KubernetesObject> => ({
      ...{ apiVersion, plural, isNamespaced, kind: '' },
    });
    const rights = 'rbac.authorization.k8s.io/v1';
    const kinds = [
      ...[kind('apps/v1', 'deployments'), kind('apps/v1', 'daemonsets'), kind('v1', 'services')],
      ...[kind('v1', 'serviceaccounts'), kind('policy/v1', 'poddisruptionbudgets')],
      ...[kind(rights, 'roles'), kind(rights, 'rolebindings'), kind(rights, 'clusterroles', false)],
    ];
    for (const one of kinds) expect((await platform().client.list(one, { labels: own })).items, one.plural).toEqual([]);
    await until(async () => (await platform().pods()).length === 0, {
      what: 'the pods to be gone',
      timeoutMs: 180_000,
    });
    const { items } = await platform().client.list(KINDS.secrets, { labels: own });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['tancho']);
    const { items: left } = await platform().client.list(KINDS.pods, { namespace: APPS });
    expect(left.filter(({ status }) => status?.phase === 'Running')).toHaveLength(3);
  });
});

/** The first process of a container, which is no pause. */
function isServer(pid: number): boolean {
  return namespacePid(pid) === 1 && readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes('server');
}
