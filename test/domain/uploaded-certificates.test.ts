/** Certificates that people upload for an app: how many, and for which names they count. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Act } from '../../src/domain/act.ts';
import { MOST } from '../../src/domain/bounds.ts';
import { PLATFORM } from '../../src/domain/caller.ts';
import { type Certificates, createCertificates } from '../../src/domain/certificates/certificates.ts';
import { makeLeaf, makeRoot } from '../../src/lib/x509/certificate.ts';
import { newKey } from '../../src/lib/x509/names.ts';
import { type CertificateWorld, certificateWorld, DAY_MS, OUR_ADDRESS } from '../support/certificate-world.ts';

const DOMAIN = 'apps.example.com';

let world: CertificateWorld;
let certificates: Certificates;
beforeAll(async () => {
  world = await certificateWorld({ wildcard: false });
  const { store, issuance, upkeep, looks, presenter, now } = world;
  const act: Act = (_caller, _action, _subject, _options, work) => work();
  certificates = createCertificates({
    ...{ store, act, issuance, upkeep, looks, presenter, now, authorities: [world.authority.authority()] },
    ...{ domain: DOMAIN, wildcard: false, persists: false, publicAddress: () => OUR_ADDRESS },
  });
  await world.addApps('shop', 'other');
  await world.upkeep.round();
});
afterAll(() => world.dispose());

function upload(app: string, ...names: readonly string[]): Promise<unknown> {
  const now = world.now().getTime();
  const validity = { notBefore: new Date(now - DAY_MS), notAfter: new Date(now + 90 * DAY_MS) };
  const [rootKey, key] = [newKey(), newKey()];
  const root = makeRoot('Root', rootKey, validity);
  const publicKey = createPublicKey(createPrivateKey(key));
  const chain = makeLeaf({ certificate: root, key: rootKey }, [...names], publicKey, validity);
  return certificates.add(PLATFORM, { app, chain, key });
}

it('one that claims the name of another app does not stand for it', async () => {
  await upload('other', `a.${DOMAIN}`, `other.${DOMAIN}`, `shop.${DOMAIN}`);
  const why = await certificates.why(PLATFORM, `shop.${DOMAIN}`);
  expect(why.certificate?.record).toMatchObject({ source: 'authority', app: 'shop' });
  const own = await certificates.why(PLATFORM, `other.${DOMAIN}`);
  expect(own.certificate?.record).toMatchObject({ source: 'upload', app: 'other' });
  await upload('shop', `shop.${DOMAIN}`);
  await certificates.remove(PLATFORM, `shop.${DOMAIN}`);
  const left = (await world.store.certificates()).filter(({ source }) => source === 'upload');
  expect(left.map(({ app }) => app)).toEqual(['other']);
});

it('an app has a bounded number of them, and one may be replaced then', async () => {
  for (let n = 0; n < MOST.certificatesOfApp; n++) await upload('shop', `shop.${DOMAIN}`, `${n}.example.com`);
  const more = upload('shop', `shop.${DOMAIN}`, 'more.example.com');
  await expect(more).rejects.toMatchObject({ code: 'quota.exceeded' });
  await upload('shop', `shop.${DOMAIN}`, '7.example.com');
  await upload('', `shop.${DOMAIN}`, 'operator.example.com');
});
