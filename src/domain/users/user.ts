/**
 * Users, their sessions and keys, as they are remembered. Secrets are stored as hashes only, but for the API key, which
 * can be shown again: it is stored sealed.
 */
export interface User {
  /** Lower-cased; the identity. */
  readonly email: string;
  /** argon2id, PHC string. */
  readonly passwordHash: string;
  readonly isAdmin: boolean;
  readonly createdAt: string;
}

export interface Session {
  /** SHA-256 of the token, hexadecimal. */
  readonly tokenHash: string;
  readonly email: string;
  readonly createdAt: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
}

export interface SshKey {
  readonly email: string;
  /** Unique per user. */
  readonly name: string;
  /** `SHA256:...` as ssh-keygen prints it; unique over all users, because it is how a pusher is recognised. */
  readonly fingerprint: string;
  /** `<type> <base64>` without the comment. */
  readonly key: string;
  readonly createdAt: string;
}

export interface ApiKey {
  /** A user has at most one. */
  readonly email: string;
  /** SHA-256 of the key, hexadecimal. */
  readonly keyHash: string;
  /** The key itself. */
  readonly key: string;
  readonly createdAt: string;
}

/** A one-time token that was mailed to somebody who forgot the password. */
export interface PasswordReset {
  /** SHA-256 of the token, hexadecimal. */
  readonly tokenHash: string;
  readonly email: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}
