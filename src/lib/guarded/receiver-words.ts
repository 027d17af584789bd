import type { RequestFailure } from './guarded-request.ts';

/** What a connection that failed means, in words for those who have to mend it. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nobody listens at the address of the receiver.',
  ECONNRESET: 'The receiver broke the connection.',
  EPIPE: 'The receiver broke the connection.',
  EHOSTUNREACH: 'No way leads to the host of the receiver.',
  ENETUNREACH: 'No way leads to the network of the receiver.',
  ETIMEDOUT: 'The receiver did not answer in time.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the receiver is for another host.',
  CERT_HAS_EXPIRED: 'The certificate of the receiver has expired.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate of the receiver is signed by nobody that this machine trusts.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate of the receiver is signed by nobody that this machine trusts.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The certificate of the receiver is signed by nobody that this machine trusts.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate of the receiver is signed by nobody that this machine trusts.',
};

/** One sentence. */
export function connectionFailed(thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  const known = WORDS[code];
  if (known !== undefined) return known;
  if (code.startsWith('ERR_SSL')) return `The receiver does not speak TLS as it should (${code}).`;
  return `The connection to the receiver failed${code === '' ? '' : ` (${code})`}.`;
}

/** One sentence. */
export function requestFailed({ code, message, cause }: RequestFailure): string {
  if (code === 'timeout') return 'The receiver did not answer in time.';
  if (code === 'forbidden') return message;
  if (code === 'malformed') return `The answer of the receiver is ${message}.`;
  return cause instanceof Error && 'code' in cause
    ? connectionFailed(cause)
    : `The receiver is out of reach: ${message.replace(/\.?$/, '.')}`;
}
