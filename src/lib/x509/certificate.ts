/** Makes X.509 certificates (RFC 5280): those of an authority of our own, and the one that answers a tls-alpn-01 challenge. */
import { createHash, createPrivateKey, type KeyObject, randomBytes, X509Certificate } from 'node:crypto';
import { bytes, childrenOf, context, flags, integer, oid, readValues, sequence, time, yes } from './der.ts';
import {
  alternativeNames,
  distinguishedName,
  EXTENSION,
  extension,
  publicKeyInfo,
  signatureAlgorithm,
  signed,
} from './names.ts';
import { toPem } from './pem.ts';

const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const DIGITAL_SIGNATURE = 0;
const CERT_SIGN = 5;
const CRL_SIGN = 6;
const SERIAL_BYTES = 16;

interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

interface Signer {
  /** PEM. */
  readonly certificate: string;
  /** PKCS #8 as PEM. */
  readonly key: string;
}

/** A root that signs itself. With `permitted` it is good for names below those domains only. */
export function makeRoot(
  commonName: string,
  keyPem: string,
  { notBefore, notAfter, permitted = [] }: Validity & { readonly permitted?: readonly string[] },
): string {
  const key = createPrivateKey(keyPem);
  const subtrees = permitted.map((domain) => sequence(context(2, false, Buffer.from(domain, 'latin1'))));
  return assemble(key, key, {
    issuer: distinguishedName(commonName),
    subject: distinguishedName(commonName),
    notBefore,
    notAfter,
    extensions: [
      extension(EXTENSION.basicConstraints, sequence(yes()), true),
      extension(EXTENSION.keyUsage, flags(CERT_SIGN, CRL_SIGN), true),
      extension(EXTENSION.subjectKeyId, bytes(keyId(key))),
      ...(subtrees.length === 0
        ? []
        : [extension(EXTENSION.nameConstraints, sequence(context(0, true, ...subtrees)), true)]),
    ],
  });
}

/** For servers: signed by `signer`, for the key `publicKey` belongs to. */
export function makeLeaf(
  signer: Signer,
  names: readonly string[],
  publicKey: KeyObject,
  { notBefore, notAfter }: Validity,
): string {
  const signerKey = createPrivateKey(signer.key);
  return assemble(signerKey, publicKey, {
    issuer: subjectOf(signer.certificate),
    subject: distinguishedName(''),
    notBefore,
    notAfter,
    extensions: [
      // Critical, for there is no subject (RFC 5280, 4.2.1.6).
      extension(EXTENSION.subjectAltName, alternativeNames(names), true),
      extension(EXTENSION.basicConstraints, sequence(), true),
      extension(EXTENSION.keyUsage, flags(DIGITAL_SIGNATURE), true),
      extension(EXTENSION.extendedKeyUsage, sequence(oid(SERVER_AUTH))),
      extension(EXTENSION.subjectKeyId, bytes(keyId(publicKey))),
      extension(EXTENSION.authorityKeyId, sequence(context(0, false, keyId(signerKey)))),
    ],
  });
}

/** RFC 8737: proves a name to an authority that connects with the protocol acme-tls/1. `digest`: SHA-256 of the key authorization. */
export function makeAlpnCertificate(name: string, digest: Uint8Array, keyPem: string, validity: Validity): string {
  const key = createPrivateKey(keyPem);
  return assemble(key, key, {
    issuer: distinguishedName('tls-alpn-01'),
    subject: distinguishedName('tls-alpn-01'),
    ...validity,
    extensions: [
      extension(EXTENSION.subjectAltName, alternativeNames([name])),
      extension(EXTENSION.acmeIdentifier, bytes(digest), true),
    ],
  });
}

interface Parts extends Validity {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly extensions: readonly Buffer[];
}

function assemble(signerKey: KeyObject, publicKey: KeyObject, parts: Parts): string {
  const serial = randomBytes(SERIAL_BYTES);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const body = sequence(
    context(0, true, integer(2)),
    integer(serial),
    signatureAlgorithm(),
    parts.issuer,
    sequence(time(parts.notBefore), time(parts.notAfter)),
    parts.subject,
    publicKeyInfo(publicKey),
    context(3, true, sequence(...parts.extensions)),
  );
  return toPem('CERTIFICATE', signed(body, signerKey));
}

/** SHA-1 of the key's bits, as everybody makes it (RFC 5280, 4.2.1.2). */
function keyId(key: KeyObject): Buffer {
  const [, keyBits] = childrenOf(readValues(publicKeyInfo(key))[0]);
  return createHash('sha1')
    .update((keyBits?.body ?? Buffer.of()).subarray(1))
    .digest();
}

/** DER, byte for byte: an issuer has to be equal to the subject above it. */
function subjectOf(certificate: string): Buffer {
  const [body] = childrenOf(readValues(new X509Certificate(certificate).raw)[0]);
  const subject = childrenOf(body)[5];
  return subject?.whole ?? distinguishedName('');
}
