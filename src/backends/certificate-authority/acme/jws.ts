/** Signs requests as ACME wants them: flattened JWS with ES256 (RFC 7515, RFC 8555 section 6.2). */
import { createHash, createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';

interface Jwk {
  readonly crv: string;
  readonly kty: string;
  readonly x: string;
  readonly y: string;
}

export interface SigningKey {
  readonly key: KeyObject;
  readonly jwk: Jwk;
  /** RFC 7638, base64url. */
  readonly thumbprint: string;
}

export function signingKey(pem: string): SigningKey {
  const key = createPrivateKey(pem);
  const { crv = '', kty = '', x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' });
  // The order of the fields is the one that RFC 7638 hashes.
  const jwk = { crv, kty, x, y };
  return { key, jwk, thumbprint: createHash('sha256').update(JSON.stringify(jwk)).digest('base64url') };
}

type Protected = Readonly<Record<string, unknown>>;

/** `payload` null: POST-as-GET. */
export function signedBody(key: KeyObject, header: Protected, payload: unknown): string {
  const head = encoded({ alg: 'ES256', ...header });
  const body = payload === null ? '' : encoded(payload);
  const signature = sign('sha256', Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' });
  return JSON.stringify({ protected: head, payload: body, signature: signature.toString('base64url') });
}

/** Binds an account key to an account elsewhere (RFC 8555 section 7.3.4). `secret` is base64url. */
export function externalBinding(kid: string, secret: string, url: string, jwk: Jwk): unknown {
  const head = encoded({ alg: 'HS256', kid, url });
  const body = encoded(jwk);
  const signature = createHmac('sha256', Buffer.from(secret, 'base64url'))
    .update(`${head}.${body}`)
    .digest('base64url');
  return { protected: head, payload: body, signature };
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
