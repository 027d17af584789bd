import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { expect, it } from 'vitest';
import { isSignedBy, parseCheckpoint, signCheckpoint, verifierKey } from './checkpoint.ts';

const newKey = (): string =>
  generateKeyPairSync('ed25519', {
    privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
    publicKeyEncoding: { format: 'pem', type: 'spki' },
  }).privateKey;

const KEY = newKey();
const ROOT = Buffer.alloc(32, 7);
const CHECKPOINT = { origin: 'tancho/audit/1', size: 12, root: ROOT };
const NOTE = signCheckpoint(CHECKPOINT, KEY);

it('is a note as C2SP defines it: origin, size, root, and a line with the signature', () => {
  const [origin, size, root, empty, line = '', end] = NOTE.split('\n');
  expect([origin, size, root, empty, end]).toEqual(['tancho/audit/1', '12', ROOT.toString('base64'), '', '']);
  const [dash, name, encoded = ''] = line.split(' ');
  expect([dash, name]).toEqual(['—', 'tancho/audit/1']);
  const signature = Buffer.from(encoded, 'base64');
  expect(signature).toHaveLength(4 + 64);
  const text = Buffer.from(`tancho/audit/1\n12\n${ROOT.toString('base64')}\n`);
  expect(verify(null, text, createPublicKey(KEY), signature.subarray(4))).toBe(true);
  expect(verifierKey(CHECKPOINT.origin, KEY)).toMatch(/^tancho\/audit\/1\+[0-9a-f]{8}\+A[A-Za-z0-9+/]{43}$/);
  expect(parseCheckpoint(NOTE)).toEqual(CHECKPOINT);
});

it('is signed by its key, and by no other', () => {
  const verifier = verifierKey(CHECKPOINT.origin, KEY);
  expect(isSignedBy(NOTE, verifier)).toBe(true);
  expect(isSignedBy(NOTE, verifierKey(CHECKPOINT.origin, newKey()))).toBe(false);
  expect(isSignedBy(NOTE, verifierKey('another', KEY))).toBe(false);
  expect(isSignedBy(NOTE.replace('\n12\n', '\n13\n'), verifier)).toBe(false);
  for (const nonsense of ['', 'x', 'a+b+c', `${verifier}AAAA`]) expect(isSignedBy(NOTE, nonsense)).toBe(false);
  expect(isSignedBy('', verifier)).toBe(false);
});

it('is nothing else', () => {
  for (const text of [
    '',
    'x\n1\nAA==\n\n— x AA==\n',
    NOTE.replace('12', '-1'),
    NOTE.replace('12', '012'),
    NOTE.split('\n\n')[0] ?? '',
  ]) {
    expect(parseCheckpoint(text), text).toBeNull();
  }
});
