import type { AlpnChallenge, Certificate, CertificateSet, HttpChallenge } from '../../domain/routes/router.ts';
import { hostName, list, record, text, version } from './json-values.ts';

/** Base64url, as authorities make tokens (RFC 8555 section 8.3). */
const TOKEN = /^[A-Za-z0-9_-]{1,512}$/;

/** Reads a set that came from outside this process; throws an Error that names the first thing wrong. */
export function checkCertificates(value: unknown): CertificateSet {
  const set = record(value, 'the set of certificates');
  return {
    version: version(set.version),
    certificates: list(set.certificates, 'certificates').map(checkCertificate),
    httpChallenges: list(set.httpChallenges, 'httpChallenges').map(checkHttpChallenge),
    alpnChallenges: list(set.alpnChallenges, 'alpnChallenges').map(checkAlpnChallenge),
  };
}

function checkCertificate(value: unknown): Certificate {
  const given = record(value, 'a certificate');
  const id = text(given.id, 'id');
  const names = list(given.names, 'names').map((name) => hostName(name, `certificate ${id}`));
  return { id, names, chain: text(given.chain, 'chain'), key: text(given.key, 'key') };
}

function checkHttpChallenge(value: unknown): HttpChallenge {
  const given = record(value, 'a challenge');
  const token = text(given.token, 'token');
  if (!TOKEN.test(token)) throw new Error('a token of a challenge is none');
  return { token, answer: text(given.answer, 'answer'), host: hostName(given.host, 'a challenge') };
}

function checkAlpnChallenge(value: unknown): AlpnChallenge {
  const given = record(value, 'a challenge');
  const name = hostName(given.name, 'a challenge');
  return { name, chain: text(given.chain, 'chain'), key: text(given.key, 'key') };
}
