/** From what an authority offers to what has to be shown to it. */
import { createHash } from 'node:crypto';
import type { Challenge, ChallengeKind } from '../../../domain/certificates/authority.ts';
import { makeAlpnCertificate } from '../../../lib/x509/certificate.ts';
import { newKey } from '../../../lib/x509/names.ts';
import type { Authorization, OfferedChallenge } from './wire.ts';

const DAY_MS = 86_400_000;
/** RFC 8555 section 8.1: base64url, of at least 128 bits. */
const TOKEN = /^[A-Za-z0-9_-]{16,512}$/;

/** The first wanted kind that is offered; a wildcard is proven by DNS only. */
export function chooseChallenge(
  { challenges, wildcard }: Authorization,
  wanted: readonly ChallengeKind[],
): { readonly kind: ChallengeKind; readonly offered: OfferedChallenge } | null {
  for (const kind of wanted) {
    if (wildcard && kind !== 'dns-01' && kind !== 'dns-persist-01') continue;
    const offered = challenges.find(
      ({ type, token }) => type === kind && (kind === 'dns-persist-01' || TOKEN.test(token)),
    );
    if (offered !== undefined) return { kind, offered };
  }
  return null;
}

export function toPresent(kind: ChallengeKind, name: string, token: string, thumbprint: string, now: Date): Challenge {
  const answer = `${token}.${thumbprint}`;
  const digest = createHash('sha256').update(answer).digest();
  if (kind === 'http-01') return { kind, name, token, answer };
  if (kind === 'dns-persist-01') return { kind, name };
  if (kind === 'dns-01') return { kind, name, record: `_acme-challenge.${name}`, value: digest.toString('base64url') };
  const key = newKey();
  const validity = { notBefore: new Date(now.getTime() - DAY_MS), notAfter: new Date(now.getTime() + 7 * DAY_MS) };
  return { kind, name, chain: makeAlpnCertificate(name, digest, key, validity), key };
}
