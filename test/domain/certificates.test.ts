import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type CertificateWorld,
  certificateWorld,
  DAY_MS,
  HOUR_MS,
  MemoryAuthority,
  OUR_ADDRESS,
  type WorldOptions,
} from '../support/certificate-world.ts';
import { type CertificateAuthority, IssueFailure, type IssueRequest } from '../../src/domain/certificates/authority.ts';
import type { Act } from '../../src/domain/act.ts';
import { PLATFORM } from '../../src/domain/caller.ts';
import type { CertificateRecord } from '../../src/domain/certificates/certificate.ts';
import { createCertificates } from '../../src/domain/certificates/certificates.ts';
import type { DnsRecords } from '../../src/domain/certificates/dns-records.ts';
import type { Store } from '../../src/domain/store.ts';
import type { Webhook } from '../../src/domain/webhooks/webhook.ts';
import { newKey } from '../../src/lib/x509/names.ts';
import { until } from '../support/until.ts';

const worlds: CertificateWorld[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(worlds.splice(0).map((world) => world.dispose()));
});

async function start(options: WorldOptions = {}): Promise<CertificateWorld> {
  const world = await certificateWorld(options);
  worlds.push(world);
  return world;
}

const EVERYTHING: Webhook = {
  ...{ id: 'a', scope: 'platform', owner: '', url: 'https://hooks.example.com/', secret: 'whsec_c2VjcmV0' },
  ...{ kinds: [], by: 'ann@example.com', createdAt: '' },
};
const DNS: DnsRecords = { set: async () => {}, remove: async () => {} };
const only = async ({ store }: CertificateWorld): Promise<CertificateRecord> => {
  const [record, ...others] = await store.certificates();
  if (record === undefined || others.length > 0) throw new Error(`${others.length + 1} records`);
  return record;
};
const presented = (world: CertificateWorld): string[] =>
  world
    .set()
    .certificates.flatMap(({ names }) => names)
    .sort();
const addName = (world: CertificateWorld, app: string, ...cname: string[]) =>
  world.store.transact((tx) => tx.updateApp(app, { cname }));

describe('which certificates there are', () => {
  it('one order for a thousand apps below the domain', async () => {
    const world = await start({ dns: DNS });
    await world.addApps(...Array.from({ length: 1_000 }, (_, n) => `app${n}`));
    await world.upkeep.round();
    await world.addApps('late');
    await world.upkeep.round();
    expect([...world.authority.orders.values()].map(({ names }) => names)).toEqual([['*.apps.example.com']]);
    expect(presented(world)).toEqual(['*.apps.example.com']);
  });

  it('one per name without a wildcard, and for names of other domains', async () => {
    const world = await start({ wildcard: false });
    await world.addApps('shop');
    await addName(world, 'shop', 'www.example.com');
    await world.upkeep.round();
    expect(presented(world)).toEqual(['shop.apps.example.com', 'www.example.com']);
    expect((await world.store.certificates()).map(({ app }) => app)).toEqual(['shop', 'shop']);
  });

  it('one for each process with a name of its own, proven at that name, beside the one for all apps', async () => {
    const world = await start({ dns: DNS });
    const asked: { readonly names: readonly string[]; readonly challenges: readonly string[] }[] = [];
    world.authority.fault = ({ names, challenges }) => {
      asked.push({ names, challenges: [...challenges].sort() });
      return null;
    };
    await world.addApps('shop');
    const route = (...routedProcesses: string[]) =>
      world.store.transact((tx) => tx.updateApp('shop', { routedProcesses }));
    await route('admin');
    await world.upkeep.round();
    await route('admin', 'api');
    await world.upkeep.round();
    await world.upkeep.round();
    const single = (name: string) => ({ names: [name], challenges: ['http-01', 'tls-alpn-01'] });
    expect(asked).toEqual([
      { names: ['*.apps.example.com'], challenges: ['dns-01'] },
      single('admin.shop.apps.example.com'),
      single('api.shop.apps.example.com'),
    ]);
    await route('api');
    await world.upkeep.round();
    expect(presented(world)).toEqual(['*.apps.example.com', 'api.shop.apps.example.com']);
  });

  it('a name that goes and comes back has its certificate again, without an order', async () => {
    const world = await start({ wildcard: false });
    await world.addApps('shop');
    await addName(world, 'shop', 'www.example.com');
    await world.upkeep.round();
    await addName(world, 'shop');
    await world.upkeep.round();
    expect(presented(world)).toEqual(['shop.apps.example.com']);
    await addName(world, 'shop', 'www.example.com');
    await world.upkeep.round();
    await world.upkeep.round();
    expect(presented(world)).toContain('www.example.com');
    expect(world.authority.orders.size).toBe(2);
    await addName(world, 'shop');
    world.pass(50 * DAY_MS);
    await world.upkeep.round();
    expect((await world.store.certificates()).map(({ names }) => names)).toEqual([['shop.apps.example.com']]);
  });
});

describe('an attempt', () => {
  it('is made once for all who wait for it', async () => {
    const world = await start({ dns: DNS });
    await world.upkeep.round();
    const { id } = await only(world);
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 20 }, () => world.issuance.attempt(id, signal)));
    expect(world.authority.orders.size).toBe(2);
  });

  it('goes on after a crash at every write, with one order', async () => {
    for (let writes = 1; ; writes++) {
      const world = await start({ dns: DNS });
      let left = writes;
      const dying = (store: Store): Store => ({
        ...store,
        async transact(work) {
          if (left-- <= 0) throw new Error('killed');
          return store.transact(work);
        },
      });
      await world.again({ store: dying }).upkeep.round();
      const isDone = left > 0;
      await world.again().upkeep.round();
      world.pass(HOUR_MS);
      await world.again().upkeep.round();
      expect((await only(world)).state, `after ${writes} writes`).toBe('issued');
      // Only a crash between the authority's answer and our writing it down costs a second order.
      expect(world.authority.orders.size).toBeLessThanOrEqual(2);
      expect(presented(world)).toEqual(['*.apps.example.com']);
      if (isDone) {
        expect(writes).toBeGreaterThan(4);
        break;
      }
    }
  });

  it('that fails says why, waits longer each time, and is forgotten by a success', async () => {
    const world = await start({ dns: DNS });
    await world.store.transact((tx) => tx.insertWebhook(EVERYTHING));
    world.authority.fault = () => new IssueFailure('validation_failed', 'ca.test says: no');
    const pauses: number[] = [];
    for (let round = 0; round < 4; round++) {
      await world.upkeep.round();
      const { nextAttemptAt, failures, cause, problem, state } = await only(world);
      expect([state, cause, problem, failures]).toEqual(['failed', 'validation_failed', 'ca.test says: no', round + 1]);
      pauses.push(Date.parse(nextAttemptAt ?? '') - world.now().getTime());
      await world.upkeep.round();
      expect((await only(world)).failures).toBe(round + 1);
      world.pass(pauses.at(-1) ?? 0);
    }
    for (const [at, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(0.8 * 600_000 * 2 ** at);
      expect(pause).toBeLessThanOrEqual(1.2 * 600_000 * 2 ** at);
    }
    world.authority.fault = () => null;
    await world.upkeep.round();
    expect(await only(world)).toMatchObject({ state: 'issued', cause: null, problem: '', failures: 0 });
    const reported = await world.store.deliveries(EVERYTHING.id, 10);
    expect(reported.map(({ kind, body }) => [kind, body.includes('ca.test says: no')])).toEqual([
      ['certificate.failing', true],
    ]);
  });

  it('waits until a limit of the authority is over', async () => {
    const world = await start({ dns: DNS });
    const retryAt = new Date(world.now().getTime() + 30 * HOUR_MS);
    world.authority.fault = () => new IssueFailure('rate_limited', 'ca.test says: too many', { retryAt });
    await world.upkeep.round();
    expect((await only(world)).nextAttemptAt).toBe(retryAt.toISOString());
  });

  it('that people ask for is not sent to the authority before its limit is over', async () => {
    const world = await start({ dns: DNS });
    const { store, issuance, upkeep, looks, presenter, now } = world;
    const act: Act = (_caller, _action, _subject, _options, work) => work();
    const certificates = createCertificates({
      ...{ store, act, issuance, upkeep, looks, presenter, now, authorities: [world.authority.authority()] },
      ...{
        speaksTls: true,
        domain: 'apps.example.com',
        wildcard: true,
        persists: false,
        publicAddress: () => OUR_ADDRESS,
      },
    });
    let asked = 0;
    const retryAt = new Date(now().getTime() + 30 * HOUR_MS);
    world.authority.fault = () => {
      asked += 1;
      return new IssueFailure('rate_limited', 'ca.test says: too many', { retryAt });
    };
    await upkeep.round();
    const renew = async () => (await certificates.renew(PLATFORM, '*.apps.example.com')).record;
    expect(await renew()).toMatchObject({ state: 'failed', cause: 'rate_limited' });
    expect(asked).toBe(1);
    world.pass(31 * HOUR_MS);
    world.authority.fault = () => null;
    expect(await renew()).toMatchObject({ state: 'issued', cause: null });
  });

  it('is not left until the time of a clock that was ahead', async () => {
    const world = await start({ dns: DNS });
    world.pass(365 * DAY_MS);
    world.authority.fault = () => new IssueFailure('authority_away', 'ca.test is away');
    await world.upkeep.round();
    world.pass(-365 * DAY_MS);
    world.authority.fault = () => null;
    await world.upkeep.round();
    expect(await only(world)).toMatchObject({ state: 'issued' });
  });

  it('takes nothing in place of what works that is for another key, for other names, or over', async () => {
    const answers: Record<string, (issue: CertificateAuthority['issue'], request: IssueRequest) => Promise<string>> = {
      'it is for another key': (issue, request) => issue({ ...request, key: newKey() }),
      'it is for other names': (issue, request) => issue({ ...request, names: ['other.example.com'] }),
    };
    for (const [why, answer] of Object.entries(answers)) {
      let isBad = false;
      const authorities = (first: MemoryAuthority): CertificateAuthority[] => {
        const good = first.authority();
        return [{ ...good, issue: (request) => (isBad ? answer(good.issue, request) : good.issue(request)) }];
      };
      const world = await start({ wildcard: false, authorities });
      await world.addApps('shop');
      await world.upkeep.round();
      const before = world.set().certificates;
      isBad = true;
      world.pass(44 * DAY_MS);
      await world.upkeep.round();
      expect(await only(world), why).toMatchObject({
        ...{ state: 'failed', cause: 'authority_refuses' },
        problem: `The certificate that the authority sent cannot be used: ${why}.`,
      });
      expect(world.set().certificates, why).toEqual(before);
    }
  });

  it('of a certificate that has expired already is none', async () => {
    const world = await start({ wildcard: false });
    world.authority.lifeMs = -60_000;
    await world.addApps('shop');
    await world.upkeep.round();
    expect(await only(world)).toMatchObject({
      state: 'failed',
      problem: expect.stringContaining('it has expired') as string,
    });
    expect(presented(world)).toEqual([]);
  });

  it('goes to the second authority when the first one is away, and not when the name is wrong', async () => {
    const second: { ca?: MemoryAuthority } = {};
    const world = await start({
      dns: DNS,
      authorities: (first) => {
        second.ca ??= new MemoryAuthority(() => new Date('2026-11-25T00:00:00Z'), 'second.test');
        return [first.authority(), second.ca.authority({ name: 'second.test' })];
      },
    });
    world.authority.fault = () => new IssueFailure('validation_failed', 'no');
    await world.upkeep.round();
    expect(second.ca?.orders.size).toBe(0);
    world.authority.fault = () => new IssueFailure('authority_away', 'away');
    world.pass(HOUR_MS);
    await world.upkeep.round();
    expect(await only(world)).toMatchObject({ state: 'issued', authority: 'second.test' });
  });

  it('that a DNS command fails says how it ended, and removes the record that may be there', async () => {
    const removed: string[] = [];
    const set = () => Promise.reject(new Error('it ended with 1', { cause: new Error('it printed: token=s3cret') }));
    const world = await start({
      dns: { set, remove: async (record, value) => void removed.push(`${record} ${value}`) },
      authorities: (first) => [provenByDns(first)],
    });
    await world.upkeep.round();
    const record = await only(world);
    expect(record).toMatchObject({
      cause: 'dns_command_failed',
      problem: `acme.dns-command did not set ${TXT_RECORD}: it ended with 1`,
    });
    expect(JSON.stringify(record)).not.toContain('s3cret');
    expect(removed).toEqual([`${TXT_RECORD} x`]);
  });

  it('that ends because the server stops still removes its DNS record, and waits for that a short time only', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const asked = Promise.withResolvers<void>();
    const removed = Promise.withResolvers<void>();
    const remove: DnsRecords['remove'] = (_record, _value, signal) => {
      signal.addEventListener('abort', () => removed.reject(new Error('it did not end in time')));
      asked.resolve();
      return removed.promise;
    };
    const world = await start({ dns: { ...DNS, remove }, authorities: (first) => [provenByDns(first)] });
    world.upkeep.start();
    await asked.promise;
    let isClosed = false;
    const closed = world.upkeep.close().then(() => (isClosed = true));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(10_000);
    const wasClosed = isClosed;
    removed.resolve();
    await closed;
    expect(wasClosed).toBe(true);
  });
});

const TXT_RECORD = '_acme-challenge.apps.example.com';

/** Looks at a record, and has no certificate for anybody. */
function provenByDns(first: MemoryAuthority): CertificateAuthority {
  return {
    ...first.authority(),
    async issue(request) {
      const challenge = { kind: 'dns-01', name: 'apps.example.com', record: TXT_RECORD, value: 'x' } as const;
      const withdraw = await request.present(challenge);
      await withdraw();
      throw new IssueFailure('authority_away', 'away', { goesOn: true });
    },
  };
}

describe('a name that is wrong', () => {
  it('keeps those of other apps waiting no longer than one look, however many of its kind there are', async () => {
    const slow = Promise.withResolvers<void>();
    const asked: string[] = [];
    const world = await start({
      wildcard: false,
      lookup: (good) => ({
        ...good,
        addresses: async (name) => {
          asked.push(name);
          if (!name.endsWith('.greedy.example')) return good.addresses(name);
          await slow.promise;
          return { kind: 'none' };
        },
      }),
    });
    await world.addApps('greedy');
    await addName(world, 'greedy', ...Array.from({ length: 30 }, (_, n) => `n${n}.greedy.example`));
    world.upkeep.start();
    await until(() => asked.length >= 4, { what: 'the first looks' });
    await world.addApps('shop');
    world.upkeep.wake();
    slow.resolve();
    await until(() => presented(world).includes('shop.apps.example.com'), { what: 'the certificate of the other app' });
    expect(asked.indexOf('shop.apps.example.com')).toBeLessThan(10);
  });

  it('costs the authority nothing, is looked at again within the hour, and is issued for once it is right', async () => {
    let isThere = false;
    const world = await start({
      wildcard: false,
      lookup: (good) => ({ ...good, addresses: async (name) => (isThere ? good.addresses(name) : { kind: 'none' }) }),
    });
    await world.addApps('shop');
    for (let round = 0; round < 20; round++) {
      await world.upkeep.round();
      const { nextAttemptAt } = await only(world);
      expect(Date.parse(nextAttemptAt ?? '') - world.now().getTime()).toBeLessThanOrEqual(1.2 * HOUR_MS);
      world.pass(1.2 * HOUR_MS);
    }
    expect(await only(world)).toMatchObject({
      cause: 'no_address',
      problem: expect.stringContaining('shop.apps.example.com') as string,
    });
    expect(world.authority.orders.size).toBe(0);
    expect(world.set().httpChallenges).toEqual([]);
    isThere = true;
    await world.upkeep.round();
    expect(await only(world)).toMatchObject({ state: 'issued' });
  });
});
