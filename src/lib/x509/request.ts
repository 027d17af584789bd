/** A request for a certificate: PKCS #10 (RFC 2986). */
import { createPrivateKey } from 'node:crypto';
import { context, integer, oid, sequence, set } from './der.ts';
import { alternativeNames, distinguishedName, EXTENSION, extension, publicKeyInfo, signed } from './names.ts';

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';

/** DER. The subject stays empty: the names are in the subjectAltName, where authorities read them. */
export function certificateRequest(names: readonly string[], keyPem: string): Buffer {
  const key = createPrivateKey(keyPem);
  const extensions = sequence(extension(EXTENSION.subjectAltName, alternativeNames(names)));
  const attributes = context(0, true, sequence(oid(EXTENSION_REQUEST), set(extensions)));
  return signed(sequence(integer(0), distinguishedName(''), publicKeyInfo(key), attributes), key);
}
