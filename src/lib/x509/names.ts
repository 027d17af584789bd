/** The parts that certificates and requests share: names, keys, extensions, signatures. ECDSA on P-256 with SHA-256 only. */
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { addressBytes } from '../guarded/ip-address.ts';
import { bits, bytes, context, oid, sequence, set, utf8, yes } from './der.ts';

const COMMON_NAME = '2.5.4.3';
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';

export const EXTENSION = {
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
  extendedKeyUsage: '2.5.29.37',
  subjectKeyId: '2.5.29.14',
  authorityKeyId: '2.5.29.35',
  nameConstraints: '2.5.29.30',
  /** RFC 8737. */
  acmeIdentifier: '1.3.6.1.5.5.7.1.31',
} as const;

/** PKCS #8 as PEM. */
export function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** A distinguished name of nothing but a common name; '' for an empty one. */
export function distinguishedName(commonName: string): Buffer {
  return commonName === '' ? sequence() : sequence(set(sequence(oid(COMMON_NAME), utf8(commonName))));
}

export function extension(id: string, value: Uint8Array, isCritical = false): Buffer {
  return sequence(oid(id), ...(isCritical ? [yes()] : []), bytes(value));
}

/** Host names, wildcards and IP addresses. */
export function alternativeNames(names: readonly string[]): Buffer {
  return sequence(
    ...names.map((name) =>
      isIP(name) === 0
        ? context(2, false, Buffer.from(name, 'latin1'))
        : context(7, false, addressBytes(name) ?? Buffer.of()),
    ),
  );
}

export function publicKeyInfo(key: KeyObject): Buffer {
  return (key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' });
}

/** `body` with its algorithm and its signature. */
export function signed(body: Buffer, key: KeyObject): Buffer {
  const signature = sign('sha256', body, { key, dsaEncoding: 'der' });
  return sequence(body, signatureAlgorithm(), bits(signature));
}

export function signatureAlgorithm(): Buffer {
  return sequence(oid(ECDSA_WITH_SHA256));
}
