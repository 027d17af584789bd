/** Certificates that people upload for an app: how many, and for which names they count. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Act } from '../../src/domain/act.ts';
import { MOST } from '../../src/domain/bounds.ts';
import { PLATFORM } from '../../src/domain/caller.ts';
import { type Certificates, createCertificates } from '../../src/domain/certificates/certificates.ts';
import type { NameLookup } from '../../src/domain/certificates/name-lookup.ts';
import { makeLeaf, makeRoot } from '../../src/lib/x509/certificate.ts';
import { newKey } from '../../src/lib/x509/names.ts';
import { type CertificateWorld, certificateWorld, DAY_MS, OUR_ADDRESS } from '../support/certificate-world.ts';

const DOMAIN = 'apps.example.com';

let world: CertificateWorld;
let deps: Parameters<typeof createCertificates>[0];
let certificates: Certificates;
/** Names whose addresses were looked up. */
const looked: string[] = [];
beforeAll(async () => {
  const lookup = (good: NameLookup): NameLookup => ({
    ...good,
    addresses: (name) => (looked.push(name), good.addresses(name)),
  });
  world = await certificateWorld({ wildcard: false, lookup });
  const { store, issuance, upkeep, looks, presenter, now } = world;
  const act: Act = (_caller, _action, _subject, _options, work) => work();
  deps = {
    ...{ store, act, issuance, upkeep, looks, presenter, now, authorities: [world.authority.authority()] },
    ...{ speaksTls: true, domain: DOMAIN, wildcard: false, persists: false, publicAddress: () => OUR_ADDRESS },
  };
  certificates = createCertificates(deps);
  await world.addApps('shop', 'other');
  await world.upkeep.round();
});
afterAll(() => world.dispose());

function upload(app: string, ...names: readonly string[]): ReturnType<Certificates['add']> {
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

it('one whose name nobody could issue for is not looked at as if it were to be issued', async () => {
  await upload('', 'intranet.local', '*.corp.example');
  const asked = looked.length;
  for (const name of ['intranet.local', '*.corp.example', 'a.corp.example']) {
    const why = await certificates.why(PLATFORM, name);
    expect(why).toMatchObject({ cause: null, problem: '', certificate: { isPresented: true, isExpired: false } });
  }
  expect(looked.length).toBe(asked);
});

it('one that is replaced keeps its place among all', async () => {
  const first = await upload('', 'again.example');
  world.pass(DAY_MS);
  const next = await upload('', 'again.example');
  expect(next.view.record).toMatchObject({ id: first.view.record.id, createdAt: first.view.record.createdAt });
  expect(next.view.record.notAfter).not.toBe(first.view.record.notAfter);
});

it('one that has expired is said to be, and is looked at by the name that is asked for alone', async () => {
  const { view } = await upload('', `late.${DOMAIN}`, 'one.late.example', 'two.late.example');
  expect(view).toMatchObject({ isPresented: true, isExpired: false });
  world.pass(100 * DAY_MS);
  await world.presenter.publish();
  const listed = (await certificates.list(PLATFORM)).find(({ record }) => record.id === view.record.id);
  expect(listed).toMatchObject({ isPresented: false, isExpired: true });
  const why = await certificates.why(PLATFORM, 'one.late.example');
  expect(why).toMatchObject({ cause: null, problem: 'The uploaded certificate expired on 2027-02-24.' });
  await world.addApps('late');
  const asked = looked.length;
  await certificates.why(PLATFORM, `late.${DOMAIN}`);
  expect(looked.slice(asked)).toEqual([`late.${DOMAIN}`]);
  const nobodyAsked = createCertificates({ ...deps, authorities: [] });
  const served = await nobodyAsked.why(PLATFORM, `late.${DOMAIN}`);
  expect(served).toMatchObject({ cause: null, problem: why.problem, nextStep: why.nextStep });
  await world.upkeep.round();
  const found = await certificates.why(PLATFORM, `late.${DOMAIN}`);
  expect(found.certificate?.record.source).toBe('authority');
});

it('none is renewed where no authority is asked', async () => {
  const none = createCertificates({ ...deps, authorities: [] });
  await expect(none.renew(PLATFORM, `shop.${DOMAIN}`)).rejects.toMatchObject({
    code: 'certificate.invalid',
    message: 'No authority is asked for certificates here.',
  });
});
