import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, it } from 'vitest';
import { makeLeaf, makeRoot } from '../../lib/x509/certificate.ts';
import { newKey } from '../../lib/x509/names.ts';
import { checkUpload } from './upload.ts';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-11-25T00:00:00Z');
const at = (days: number): Date => new Date(NOW.getTime() + days * DAY_MS);
const rootKey = newKey();
const root = makeRoot('Root', rootKey, { notBefore: at(-100), notAfter: at(1000) });
const otherKey = newKey();
const other = makeRoot('Other', otherKey, { notBefore: at(-100), notAfter: at(1000) });
const key = newKey();
const leafOf = (from = -1, to = 90, names = ['www.example.com']) =>
  makeLeaf({ certificate: root, key: rootKey }, names, createPublicKey(createPrivateKey(key)), {
    notBefore: at(from),
    notAfter: at(to),
  });
const leaf = leafOf();
const encrypted = createPrivateKey(key)
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
  .toString();
const sec1 = createPrivateKey(key).export({ type: 'sec1', format: 'pem' }).toString();

it('takes a certificate with its issuers and its key, in any usual form', () => {
  const { chain, facts, notes, key: kept } = checkUpload(`# from them\n${leaf}\n${root}`, sec1, NOW);
  expect([chain, facts.names, notes, kept]).toEqual([leaf + root, ['www.example.com'], [], key]);
});

/** No key that could be used: making one of so many bits takes seconds. */
const large = (bits: number): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } => {
  const number = (size: number): string => Buffer.alloc(size / 8, 0xff).toString('base64url');
  const halves = Object.fromEntries(['p', 'q', 'dp', 'dq', 'qi'].map((part) => [part, number(bits / 2)]));
  const key = { kty: 'RSA', e: 'AQAB', n: number(bits), d: number(bits), ...halves };
  const privateKey = createPrivateKey({ format: 'jwk', key });
  return { publicKey: createPublicKey(privateKey), privateKey };
};
const withKey = ({ publicKey, privateKey }: { readonly publicKey: KeyObject; readonly privateKey: KeyObject }) => {
  const dates = { notBefore: at(-1), notAfter: at(90) };
  const own = makeLeaf({ certificate: root, key: rootKey }, ['www.example.com'], publicKey, dates);
  return [own, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()] as const;
};

it.each([
  ['RSA of few bits', () => generateKeyPairSync('rsa', { modulusLength: 1_024 }), /RSA key of 1024 bits/],
  ['RSA of so many bits that a handshake holds up others', () => large(4_160), /RSA key of 4160 bits/],
  ['a curve that nobody serves', () => generateKeyPairSync('ec', { namedCurve: 'secp256k1' }), /of a kind/],
])('refuses a key: %s', (_, make, message) => {
  expect(() => checkUpload(...withKey(make()), NOW)).toThrow(message);
});

it('takes RSA and Ed25519', () => {
  const pairs = [generateKeyPairSync('rsa', { modulusLength: 2_048 }), generateKeyPairSync('ed25519')];
  for (const pair of pairs) expect(checkUpload(...withKey(pair), NOW).facts.names).toEqual(['www.example.com']);
});

it('says what is unusual, and takes it', () => {
  expect(checkUpload(leaf, key, NOW).notes.join()).toMatch(/no issuer in it/);
  expect(checkUpload(leafOf(-80, 10) + root, key, NOW).notes.join()).toMatch(/expires on 2026-12-05/);
});

it.each([
  ['no certificate', '', key, /no certificate in the chain/],
  [
    'a damaged one',
    leaf.replace(/[A-Z]{4}\n/, 'AAAA\n').replace('MII', 'AII'),
    key,
    /Certificate 1 of the chain is damaged/,
  ],
  ['no text', 7, key, /no PEM text/],
  ['no key', leaf, leaf, /no private key/],
  ['a key with a passphrase', leaf, encrypted, /encrypted/],
  ['the key of another', leaf, otherKey, /not the one of the certificate/],
  ['one that has expired', leafOf(-90, -1), key, /expired on 2026-11-24/],
  ['one of the future', leafOf(2, 90), key, /from 2026-11-27 on/],
  ['a chain of another', leaf + other, key, /Certificate 2 of the chain did not issue/],
  ['a chain in another order', leaf + other + root, key, /Certificate 2 of the chain did not issue/],
  ['the issuer first', root + leaf, key, /not the one of the certificate/],
  ['one without names', root, rootKey, /names no host/],
  ['very many', leaf + root.repeat(10), key, /more than 10/],
])('refuses %s', (_, chain, given, message) => {
  expect(() => checkUpload(chain, given, NOW)).toThrow(
    expect.objectContaining({
      code: 'certificate.invalid',
      message: expect.stringMatching(message) as string,
    }) as Error,
  );
});
