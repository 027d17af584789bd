/** What a team or an app may have at most is judged in the transaction that adds one. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { appToken } from '../../src/backends/store/testing/records.ts';
import { instance, service } from '../../src/backends/store/testing/services.ts';
import { MOST } from '../../src/domain/bounds.ts';
import type { StoreWriter } from '../../src/domain/store.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';

const AT = '2026-03-04T05:06:07.089Z';
const TEAM = ANN.teams[0] ?? '';

let world: DomainWorld;
beforeAll(async () => {
  world = await startDomain();
  await world.createApp('shop');
  await world.machine.store.transact((tx) => tx.insertService(service('db', { ownerTeams: [] })));
});
afterAll(() => world.dispose());

const instanceNo = (n: number) => instance(`i${n}`, { teamOwner: TEAM, teams: [TEAM], state: 'ready' });
const manifest = (id: string) => ({
  ...{ id, kind: null, url: 'http://db.internal', username: '', password: 'secret', team: TEAM, isRestricted: null },
});

interface Bound {
  readonly what: string;
  readonly most: number;
  readonly insert: (tx: StoreWriter, n: number) => Promise<void>;
  /** Through the use case, as people do. */
  readonly add: () => Promise<unknown>;
  readonly forgetOne: (tx: StoreWriter) => Promise<unknown>;
}

const BOUNDS: readonly Bound[] = [
  {
    what: 'tokens of an app',
    most: MOST.tokensOfApp,
    insert: (tx, n) =>
      tx.insertAppToken(appToken(`hash ${n}`, { by: ANN.email, expiresAt: '2100-01-01T00:00:00.000Z' })),
    add: () => world.useCases.appTokens.create(ANN, { client: 'shop', isExported: false }),
    forgetOne: (tx) => tx.deleteAppToken('hash 7'),
  },
  {
    what: 'services of a team',
    most: MOST.servicesOfTeam,
    insert: (tx, n) => tx.insertService(service(`s${n}`, { ownerTeams: [TEAM] })),
    add: () => world.useCases.services.create(ANN, manifest('more')),
    forgetOne: (tx) => tx.deleteService('s7'),
  },
  {
    what: 'instances of a team',
    most: MOST.instancesOfTeam,
    insert: (tx, n) => tx.insertInstance(instanceNo(n)),
    add: () => world.useCases.instances.create(ANN, { name: 'more', service: 'db' }),
    forgetOne: (tx) => tx.deleteInstance(instanceNo(7).id),
  },
  {
    what: 'logins of a team at registries',
    most: MOST.registryLoginsOfTeam,
    insert: (tx, n) =>
      tx.putRegistryLogin({
        host: `r${n}.example.com`,
        team: TEAM,
        user: 'u',
        password: 'p',
        by: ANN.email,
        createdAt: AT,
      }),
    add: () => world.useCases.registries.login(ANN, { host: 'more.example.com', team: TEAM, user: 'u', password: 'p' }),
    forgetOne: (tx) => tx.deleteRegistryLogin('r7.example.com', TEAM),
  },
];

it.each(BOUNDS)('there are $most $what', async ({ most, insert, add, forgetOne }) => {
  const { store } = world.machine;
  await store.transact(async (tx) => {
    for (let n = 0; n < most; n++) await insert(tx, n);
  });
  await expect(add()).rejects.toMatchObject({ code: 'quota.exceeded', details: { available: 0, requested: 1 } });
  await store.transact(forgetOne);
  await add();
});
