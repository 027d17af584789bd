/** What a certificate says, read with Node's parser where that has it. */
import { X509Certificate } from 'node:crypto';
import { childrenOf, oidText, readValues } from './der.ts';
import { EXTENSION } from './names.ts';

export interface CertificateFacts {
  /** Host names, wildcards and IP addresses of the subjectAltName, lower case, in its order. */
  readonly names: readonly string[];
  /** The issuer's common name, else its organization, else all of it. */
  readonly issuer: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** SHA-256 of the certificate, hexadecimal. */
  readonly fingerprint: string;
}

/** Of the first certificate in PEM; throws when it is none. */
export function factsOf(pem: string): CertificateFacts {
  const certificate = new X509Certificate(pem);
  return {
    names: alternativeNamesOf(certificate),
    issuer: shortName(certificate.issuer),
    notBefore: new Date(certificate.validFrom),
    notAfter: new Date(certificate.validTo),
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
  };
}

function alternativeNamesOf({ subjectAltName = '' }: X509Certificate): string[] {
  return [...subjectAltName.matchAll(/(?:^|, )(?:DNS|IP Address):([^\s,"]+)/g)].map((match) =>
    (match[1] ?? '').toLowerCase(),
  );
}

function shortName(distinguished: string): string {
  const lines = distinguished.split('\n');
  const valueOf = (field: string): string | undefined =>
    lines.find((line) => line.startsWith(`${field}=`))?.slice(field.length + 1);
  return valueOf('CN') ?? valueOf('O') ?? lines.join(', ');
}

/** `<authority key id>.<serial>` in base64url: how renewal information is asked for (RFC 9773); null where it has no such id. */
export function renewalId(pem: string): string | null {
  const [body] = childrenOf(readValues(new X509Certificate(pem).raw)[0]);
  const fields = childrenOf(body);
  const serial = fields.find(({ tag }) => tag === 0x02)?.body;
  const keyId = extensionOf(fields.find(({ tag }) => tag === 0xa3)?.body, EXTENSION.authorityKeyId);
  const id = keyId === null ? undefined : childrenOf(readValues(keyId)[0]).find(({ tag }) => tag === 0x80)?.body;
  if (serial === undefined || id === undefined) return null;
  return `${id.toString('base64url')}.${serial.toString('base64url')}`;
}

function extensionOf(extensions: Buffer | undefined, id: string): Buffer | null {
  if (extensions === undefined) return null;
  for (const one of childrenOf(readValues(extensions)[0])) {
    const parts = childrenOf(one);
    if (oidText(parts[0]) === id) return parts.at(-1)?.body ?? null;
  }
  return null;
}
