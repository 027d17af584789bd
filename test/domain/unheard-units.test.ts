/** A cluster that hears nothing of its nodes for a while: what may serve goes on having requests, and there is always somebody who has them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createKubernetesProvisioner } from '../../src/backends/provisioner/kubernetes/kubernetes-provisioner.ts';
import { SmallCluster } from '../../src/backends/provisioner/kubernetes/testing/cluster.ts';
import { bookOf } from '../../src/backends/provisioner/kubernetes/unit-book.ts';
import type { Caller, UserCaller } from '../../src/domain/caller.ts';
import type { RouteTable } from '../../src/domain/routes/router.ts';
import type { Provisioner } from '../../src/domain/units/provisioner.ts';
import { KubernetesClient } from '../../src/kubernetes/client.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import type { Pod } from '../../src/kubernetes/objects.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { until } from '../support/until.ts';

const PLATFORM: Caller = { kind: 'platform' };
const ADMIN: UserCaller = { ...ANN, email: 'root@example.com', isAdmin: true };

let cluster: SmallCluster;
let provisioner: Provisioner;
let world: DomainWorld;
/** The units that requests were led to, table by table. */
let tables: string[][];

beforeEach(async () => {
  cluster = new SmallCluster();
  await cluster.server.start();
  provisioner = createKubernetesProvisioner({
    name: 'elsewhere',
    client: new KubernetesClient(cluster.server.access()),
    settings: { installation: 'ours', namespace: 'apps', imagePullSecret: null, user: 1000, reachedFrom: [] },
    logger: SILENT,
  });
  world = await startDomain({}, provisioner);
  await world.useCases.pools.create(PLATFORM, { name: 'far', isPublic: true, engine: 'elsewhere' });
  await world.useCases.apps.create(ANN, { name: 'shop', platform: 'any', pool: 'far' });
  await world.deploy('shop');
  await world.useCases.scale.add(ANN, 'shop', { process: 'web', units: 1 }, () => {});
  await world.settled();
  tables = [];
  world.faults.on('router.apply', ([table]) => void tables.push(targetsIn(table as RouteTable)));
});
afterEach(async () => {
  await world.dispose();
  await provisioner.close();
  await cluster.close();
});

const targetsIn = ({ routes }: RouteTable): string[] =>
  routes.flatMap((route) => route.targets.map(({ unit }) => unit)).sort();
const targets = (): string[] => targetsIn(world.machine.table());

const stateOf = async (id: string) => (await provisioner.list()).find((one) => one.id === id)?.state;

/** As the node says of the pod of a unit, and as the cluster does when the node says nothing. */
function hear(id: string, isHeard: boolean): void {
  const [pod] = cluster.server.store
    .of(KINDS.deployments)
    .flatMap((deployment) => bookOf(deployment).get(id)?.pod ?? []);
  const conditions = [{ type: 'Ready', status: isHeard ? ('True' as const) : ('False' as const) }];
  cluster.server.store.update('pods', { name: pod ?? '', namespace: 'apps' }, undefined, (one) => ({
    ...one,
    status: { ...(one as Pod).status, conditions },
  }));
}

async function units(): Promise<[string, string]> {
  const [one, other] = await world.machine.store.units('shop');
  if (one === undefined || other === undefined) throw new Error('There are no two units.');
  return [one.id, other.id];
}

/** Resolves when one is lost because the other is heard of, and then that one is not either. */
async function loseAll(one: string, other: string): Promise<void> {
  hear(one, false);
  await until(() => targets().join() === other, { what: 'the one that is not heard of to have no requests' });
  hear(other, false);
  await until(async () => (await stateOf(other)) !== 'running', { what: 'the other one not to be heard of' });
}

it('the last one that may serve is left alone by the healer of units', async () => {
  const [one, other] = await units();
  await loseAll(one, other);
  expect((await world.useCases.healers.run(ADMIN, 'units')).found).toEqual([]);
  expect(targets()).toEqual([other]);
});

it('the last one that may serve has all requests until one that is heard of again has them', async () => {
  const [one, other] = await units();
  const ready = world.faults.hold('provisioner.ready');
  await loseAll(one, other);
  await ready.reached;
  hear(one, true);
  await until(async () => (await stateOf(one)) === 'running', { what: 'the first to be heard of again' });
  expect((await world.machine.store.unit(other))?.state).toBe('started');
  ready.release();
  await until(() => targets().join() === one, { what: 'the one that is heard of to have all requests' });
  expect(tables.filter((table) => table.length === 0)).toEqual([]);
});
