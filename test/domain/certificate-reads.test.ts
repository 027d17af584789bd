/** Chains of thousands of certificates are many megabytes: who reads them, and how often. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { app } from '../../src/backends/store/testing/records.ts';
import type { Act } from '../../src/domain/act.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { createCertificates } from '../../src/domain/certificates/certificates.ts';
import { type CertificateWorld, certificateWorld, OUR_ADDRESS } from '../support/certificate-world.ts';

const DOMAIN = 'apps.example.com';
const CALLER: Caller = {
  ...{ kind: 'user', email: 'bob@example.com', isAdmin: false, teams: ['red'] },
  ...{ via: 'session', tokenHash: '', address: '' },
};

let world: CertificateWorld;
/** Names of the certificates whose chains were read, by read. */
let reads: string[][] = [];
beforeEach(async () => {
  world = await certificateWorld({
    wildcard: false,
    store: (store) => ({
      ...store,
      async certificatesWithoutKeys(ids) {
        const read = await store.certificatesWithoutKeys(ids);
        reads.push(read.flatMap(({ names }) => names));
        return read;
      },
    }),
  });
  await world.addApps('shop');
  await world.store.transact((tx) => tx.insertApp(app('blog', { teams: ['blue'], teamOwner: 'blue' })));
  await world.upkeep.round();
  reads = [];
});
afterEach(() => world.dispose());

it('a round in which nothing is due reads them once, for those who are shown them', async () => {
  world.pass(60_000);
  await world.upkeep.round();
  expect(reads).toEqual([[`blog.${DOMAIN}`, `shop.${DOMAIN}`]]);
});

it('a list reads those of what its caller may see', async () => {
  const { store, issuance, upkeep, looks, presenter, now, authority } = world;
  const act: Act = (_caller, _action, _subject, _options, work) => work();
  const certificates = createCertificates({
    ...{ store, act, issuance, upkeep, looks, presenter, now, authorities: [authority.authority()] },
    ...{ speaksTls: true, domain: DOMAIN, wildcard: false, persists: false, publicAddress: () => OUR_ADDRESS },
  });
  const list = await certificates.list(CALLER);
  expect(list.map(({ record }) => record.names)).toEqual([[`shop.${DOMAIN}`]]);
  expect(list[0]?.record.chain).toContain('BEGIN CERTIFICATE');
  expect(reads).toEqual([[`shop.${DOMAIN}`]]);
  await certificates.why(CALLER, `shop.${DOMAIN}`);
  expect(reads.slice(1)).toEqual([[`shop.${DOMAIN}`]]);
});
