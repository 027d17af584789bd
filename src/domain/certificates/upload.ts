/** Certificates that people bring: looked at before they are taken. Rules only. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { type CertificateFacts, factsOf } from '../../lib/x509/inspect.ts';
import { certificatesIn, pemBlocks } from '../../lib/x509/pem.ts';
import { PlatformError } from '../errors.ts';

interface Upload {
  /** PEM: the certificate, then each that the one before was issued by. */
  readonly chain: string;
  /** PKCS #8 as PEM. */
  readonly key: string;
  readonly facts: CertificateFacts;
  /** What the one who brings it should know although it is taken, in sentences. */
  readonly notes: readonly string[];
}

const MAX_BYTES = 64 * 1024;
const MAX_CERTIFICATES = 10;
const SOON_MS = 14 * 86_400_000;
/** Bits; a signature takes some hundred times as long with the largest keys there are, and all apps wait for it. */
const RSA_BITS = { least: 2_048, most: 4_096 };
const CURVES: readonly unknown[] = ['prime256v1', 'secp384r1', 'secp521r1'];

/** Throws `certificate.invalid` with what is wrong. */
export function checkUpload(chainText: unknown, keyText: unknown, now: Date): Upload {
  const chain = certificatesOf(chainText);
  const [leaf, ...others] = chain;
  if (leaf === undefined)
    throw invalid('There is no certificate in the chain.', 'Send PEM: -----BEGIN CERTIFICATE----- and so on.');
  const facts = factsOf(leaf.toString());
  const key = keyOf(keyText);
  demandUsualKey(key);
  if (!leaf.checkPrivateKey(key)) {
    throw invalid(
      'The key is not the one of the certificate.',
      'Send the key that the certificate was requested with; the certificate has to be the first of the chain.',
    );
  }
  if (facts.names.length === 0)
    throw invalid(
      'The certificate names no host (subjectAltName).',
      'Browsers take no other names: have it issued again.',
    );
  if (facts.notAfter <= now)
    throw invalid(`The certificate expired on ${day(facts.notAfter)}.`, 'Send one that is good today.');
  if (facts.notBefore > now)
    throw invalid(`The certificate is good from ${day(facts.notBefore)} on only.`, 'Send it then.');
  demandOrder(leaf, others);
  return {
    chain: chain.map(String).join(''),
    key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    facts,
    notes: notesOf(chain, facts, now),
  };
}

function certificatesOf(text: unknown): X509Certificate[] {
  if (typeof text !== 'string' || text.length > MAX_BYTES)
    throw invalid('The chain is no PEM text of a usual size.', 'Send up to 64 KiB of PEM.');
  const blocks = certificatesIn(text).slice(0, MAX_CERTIFICATES + 1);
  if (blocks.length > MAX_CERTIFICATES)
    throw invalid(
      `The chain has more than ${MAX_CERTIFICATES} certificates.`,
      'Send the certificate and those that lead to its root.',
    );
  return blocks.map((block, at) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw invalid(`Certificate ${at + 1} of the chain is damaged.`, 'Send it as the authority gave it.', error);
    }
  });
}

function keyOf(text: unknown): KeyObject {
  const block =
    typeof text === 'string' && text.length <= MAX_BYTES
      ? pemBlocks(text).find(({ label }) => label.endsWith('PRIVATE KEY'))
      : undefined;
  if (block === undefined)
    throw invalid(
      'There is no private key in what was sent as the key.',
      'Send PEM: -----BEGIN PRIVATE KEY----- and so on.',
    );
  if (block.label.startsWith('ENCRYPTED') || block.text.includes('ENCRYPTED')) {
    throw invalid('The key is encrypted.', 'Send it without a passphrase: openssl pkey -in key.pem');
  }
  try {
    return createPrivateKey(block.text);
  } catch (error) {
    throw invalid('The private key is damaged or of an unknown kind.', 'Send an ECDSA or RSA key.', error);
  }
}

function demandUsualKey({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): void {
  const { modulusLength: bits = 0, namedCurve } = details;
  if (type === 'ed25519' || (type === 'ec' && CURVES.includes(namedCurve))) return;
  if (type === 'rsa' && bits >= RSA_BITS.least && bits <= RSA_BITS.most) return;
  throw invalid(
    type === 'rsa' ? `The key is an RSA key of ${bits} bits.` : `The key is of a kind that is not served (${type}).`,
    `Have the certificate issued for an RSA key of ${RSA_BITS.least} to ${RSA_BITS.most} bits, an ECDSA key (P-256, P-384, P-521) or an Ed25519 key.`,
  );
}

function demandOrder(leaf: X509Certificate, others: readonly X509Certificate[]): void {
  let below = leaf;
  for (const [at, above] of others.entries()) {
    if (!isIssuedBy(below, above)) {
      const fits = others.some((one) => isIssuedBy(below, one));
      throw invalid(
        `Certificate ${at + 2} of the chain did not issue the one before it.`,
        fits
          ? 'Send the chain in order: the certificate, its issuer, the issuer of that.'
          : 'Leave out what does not belong to it, or add what is missing in between.',
      );
    }
    below = above;
  }
}

function isIssuedBy(below: X509Certificate, above: X509Certificate): boolean {
  return below.checkIssued(above) && below.verify(above.publicKey);
}

function notesOf(chain: readonly X509Certificate[], { notAfter }: CertificateFacts, now: Date): string[] {
  const notes: string[] = [];
  const [leaf] = chain;
  if (leaf !== undefined && isIssuedBy(leaf, leaf)) notes.push('It is signed by itself: browsers warn of it.');
  else if (chain.length === 1)
    notes.push('The chain has no issuer in it: clients that do not know it already refuse the certificate.');
  if (notAfter.getTime() - now.getTime() < SOON_MS)
    notes.push(`It expires on ${day(notAfter)}; nobody renews it but you.`);
  return notes;
}

function day(at: Date): string {
  return at.toISOString().slice(0, 10);
}

function invalid(message: string, hint: string, cause?: unknown): PlatformError {
  return new PlatformError('certificate.invalid', message, { hint, cause });
}
