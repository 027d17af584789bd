/** Two controls on one store: what one presents, and the challenges that it has open, the router of the other has, too. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { app, populate } from '../../backends/store/testing/records.ts';
import { createSqlStore } from '../../backends/store/sql/index.ts';
import { SILENT } from '../../lib/logger.ts';
import { newSealKey, Sealer } from '../../lib/seal.ts';
import type { News, NewsListener } from '../controls/news.ts';
import { Peers } from '../controls/peers.ts';
import type { CertificateSet } from '../routes/router.ts';
import type { Store } from '../store.ts';
import { newRecord } from './certificate.ts';
import { Presenter } from './presenter.ts';

const NOW = new Date('2026-01-01T00:00:00Z');

let folder = '';
let store: Store;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-presenter-'));
  const deps = { sealer: new Sealer([newSealKey()]), logger: SILENT };
  store = await createSqlStore({ kind: 'sqlite', file: join(folder, 'tancho.db') }, deps);
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

/** Each hears what the others publish. */
function newsOf(count: number): News[] {
  const heard = Array.from({ length: count }, () => new Map<string, NewsListener[]>());
  return heard.map((own) => ({
    publish: (topic, subject) => {
      for (const other of heard.filter((one) => one !== own))
        queueMicrotask(() => other.get(topic)?.forEach((listener) => listener(subject)));
    },
    on: (topic, listener) => void own.set(topic, [...(own.get(topic) ?? []), listener]),
    close: async () => {},
  }));
}

async function controls(): Promise<{ readonly presenter: Presenter; readonly set: () => CertificateSet }[]> {
  const all = newsOf(2).map(async (news, at) => {
    const owner = `control-${at}`;
    await store.lease(`control:${owner}`, owner, 600_000);
    let set: CertificateSet = { version: 0, certificates: [], httpChallenges: [], alpnChallenges: [] };
    const router = {
      applyCertificates: async (next: CertificateSet) => void (set = next),
      certificates: async () => ({ version: set.version, ids: [], unusable: [] }),
    };
    const peers = new Peers({ store, news, owner, logger: SILENT });
    const common = { store, router, domain: 'apps.test', now: () => NOW, logger: SILENT };
    const presenter = new Presenter({ ...common, news, peers });
    presenter.follow();
    return { presenter, set: () => set };
  });
  return Promise.all(all);
}

it('a certificate that one has had issued is presented by the other', async () => {
  const [one, two] = await controls();
  const issued = { chain: 'chain', key: 'key', notAfter: '2027-01-01T00:00:00.000Z', state: 'issued' } as const;
  await store.transact((tx) => tx.putCertificate({ ...newRecord('c1', ['shop.test'], '', NOW), ...issued }));
  await one?.presenter.publish();
  await until(() => two?.set().certificates[0]?.id === 'c1', { what: 'the other to present it', everyMs: 1 });
  expect(two?.presenter.presents('shop.test')).toBe(true);
});

it('an authority finds the answer to a challenge at either, as soon as it may look, and no more when it is over', async () => {
  const [one, two] = await controls();
  const challenge = { kind: 'http-01', name: 'shop.test', token: 't', answer: 't.print' } as const;
  const withdraw = await one?.presenter.present(challenge);
  expect(two?.set().httpChallenges).toEqual([{ token: 't', answer: 't.print', host: 'shop.test' }]);
  await withdraw?.();
  expect(two?.set().httpChallenges).toEqual([]);
});

it('hands a challenge over without reading the certificates anew', async () => {
  let reads = 0;
  const counted: Store = {
    ...store,
    certificates: (ids) => (reads++, store.certificates(ids)),
    certificatesWithoutKeys: () => (reads++, store.certificatesWithoutKeys()),
  };
  let set: CertificateSet = { version: 0, certificates: [], httpChallenges: [], alpnChallenges: [] };
  const router = {
    applyCertificates: async (next: CertificateSet) => void (set = next),
    certificates: async () => ({ version: set.version, ids: [], unusable: [] }),
  };
  const presenter = new Presenter({ store: counted, router, domain: 'apps.test', now: () => NOW, logger: SILENT });
  await presenter.publish();
  const [{ certificates }, before] = [set, reads];
  const withdraw = await presenter.present({ kind: 'http-01', name: 'shop.test', token: 't', answer: 'a' });
  expect(set.httpChallenges).toHaveLength(1);
  expect(set.certificates).toBe(certificates);
  await withdraw();
  expect(set.httpChallenges).toEqual([]);
  expect(reads).toBe(before);
});

it('leaves out the largest that tenants have uploaded, where all are more than a router takes', async () => {
  const [one] = await controls();
  await populate(store);
  await store.transact(async (tx) => {
    const issued = { key: 'key', notAfter: '2027-01-01T00:00:00.000Z', state: 'issued', source: 'upload' } as const;
    const put = (id: string, forApp: string, chain: string) =>
      tx.putCertificate({ ...newRecord(id, ['*.apps.test'], forApp, NOW), ...issued, chain });
    await tx.insertApp(app('shop'));
    for (let n = 0; n < 9; n++) await put(`large-${n}`, 'shop', 'x'.repeat(4 * 1024 ** 2 + n));
    await put('small', 'shop', 'x');
    await put('operator', '', 'x'.repeat(5 * 1024 ** 2));
  });
  await one?.presenter.publish();
  const ids = (one?.set().certificates ?? []).map(({ id }) => id).sort();
  expect(ids).toEqual([...Array.from({ length: 7 }, (_, n) => `large-${n}`), 'operator', 'small']);
});
