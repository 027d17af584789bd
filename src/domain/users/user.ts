/** Users, their sessions and SSH keys, as they are remembered. Secrets are only ever stored as hashes. */
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
