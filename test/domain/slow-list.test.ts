/** A start that goes on before its cluster has said what there is. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createKubernetesProvisioner } from '../../src/backends/provisioner/kubernetes/kubernetes-provisioner.ts';
import { SmallCluster } from '../../src/backends/provisioner/kubernetes/testing/cluster.ts';
import type { Caller } from '../../src/domain/caller.ts';
import type { RouteTable } from '../../src/domain/routes/router.ts';
import type { Provisioner } from '../../src/domain/units/provisioner.ts';
import { KubernetesClient } from '../../src/kubernetes/client.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import type { Pod } from '../../src/kubernetes/objects.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { until } from '../support/until.ts';

const PLATFORM: Caller = { kind: 'platform' };
const SETTINGS = { installation: 'ours', namespace: 'apps', imagePullSecret: null, user: 1000, reachedFrom: [] };

let cluster: SmallCluster;
let world: DomainWorld;
/** Until it resolves the cluster does not say what there is. */
let listed: Promise<void>;

function provisioner(): Provisioner {
  const access = cluster.server.access();
  const client = new KubernetesClient({ ...access, login: () => listed.then(access.login) });
  return createKubernetesProvisioner({ name: 'elsewhere', client, settings: SETTINGS, logger: SILENT, listedMs: 50 });
}

beforeEach(async () => {
  cluster = new SmallCluster();
  await cluster.server.start();
  listed = Promise.resolve();
  world = await startDomain({}, provisioner);
  await world.useCases.pools.create(PLATFORM, { name: 'far', isPublic: true, engine: 'elsewhere' });
  await world.useCases.apps.create(ANN, { name: 'shop', platform: 'any', pool: 'far' });
  await world.deploy('shop');
  await world.settled();
});
afterEach(async () => {
  await world.dispose();
  await cluster.close();
});

function pod(): Pod {
  const [one] = cluster.server.store.of(KINDS.pods);
  return one ?? expect.fail('There is no pod.');
}

/** The only pod dies, and runs again, at another address. */
async function comeBackAt(podIP: string): Promise<void> {
  await cluster.kill(pod().metadata.name);
  const isBack = (): boolean => {
    const [container] = pod().status?.containerStatuses ?? [];
    return container?.restartCount === 1 && container.state?.running !== undefined;
  };
  await until(isBack, { what: 'the pod to run again', everyMs: 5 });
  cluster.server.store.update('pods', pod().metadata, undefined, (one) => ({
    ...one,
    status: { ...(one as Pod).status, podIP },
  }));
}

it('what has come back elsewhere meanwhile has its requests there, without a table that has them nowhere, whatever else there is to do', async () => {
  await world.createApp('lost');
  await world.machine.gitHost.remove('lost');
  world.crash();
  await comeBackAt('127.9.8.7');
  const listing = Promise.withResolvers<void>();
  listed = listing.promise;
  const tables: string[][] = [];
  const targetsIn = ({ routes }: RouteTable): string[] =>
    routes.flatMap(({ targets }) => targets.map(({ host }) => host));
  const tidying = Promise.withResolvers<void>();
  world = await world.machine.start({
    prepare(faults) {
      faults.on('router.apply', ([table]) => void tables.push(targetsIn(table as RouteTable)));
      faults.on('gitHost.create', () => tidying.promise);
    },
  });
  listing.resolve();
  const shop = async () => (await world.machine.store.units('shop'))[0];
  await until(async () => (await shop())?.address?.host === '127.9.8.7', { what: 'its address', everyMs: 5 });
  expect(await shop()).toMatchObject({ state: 'started', exits: 1, lastExit: { signal: 'SIGKILL' } });
  await until(() => tables.at(-1)?.[0] === '127.9.8.7', { what: 'its requests to be led there', everyMs: 5 });
  expect(tables.filter((table) => table.length === 0)).toEqual([]);
  tidying.resolve();
  await world.settled();
});
