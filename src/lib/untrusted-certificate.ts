/** Codes of Node.js for a certificate whose issuer this machine does not trust, or does not know. */
const UNTRUSTED: ReadonlySet<unknown> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Of the error of a connection over TLS; it does not pass by itself. */
export function isUntrustedCertificate(error: unknown): boolean {
  return error instanceof Error && 'code' in error && UNTRUSTED.has(error.code);
}
