import type { ApiKey, PasswordReset, Session, SshKey, User } from './user.ts';

/** What must be remembered about users. Readers answer null for what is missing. */
export interface UserReader {
  user(email: string): Promise<User | null>;
  users(): Promise<User[]>;
  /** The longest-standing admin, who is the one the owner of the machine acts as. */
  firstAdmin(): Promise<User | null>;
  /** Null also when expired at `now` (ISO 8601 UTC). */
  session(tokenHash: string, now: string): Promise<Session | null>;
  sshKeys(email: string): Promise<SshKey[]>;
  sshKeyByFingerprint(fingerprint: string): Promise<SshKey | null>;
  /** With the key in the clear. */
  apiKey(email: string): Promise<ApiKey | null>;
  /** E-mail of the user whose API key has this SHA-256. */
  apiKeyOwner(keyHash: string): Promise<string | null>;
}

export interface UserWriter {
  /** Throws PlatformError `user.email_taken`. */
  insertUser(user: User): Promise<void>;
  updatePassword(email: string, passwordHash: string): Promise<void>;
  /** Throws PlatformError `user.not_found`. */
  setAdmin(email: string, isAdmin: boolean): Promise<void>;
  /** With the user's sessions, keys of both kinds, pending resets, limit and team memberships. */
  deleteUser(email: string): Promise<void>;
  insertSession(session: Session): Promise<void>;
  deleteSession(tokenHash: string): Promise<void>;
  /** All of the user but the one kept; '' keeps none. How many there were. */
  deleteSessionsOf(email: string, keptHash: string): Promise<number>;
  deleteExpiredSessions(now: string): Promise<number>;
  /** All of the user but so many that were made last. How many there were. */
  deleteOldestSessions(email: string, kept: number): Promise<number>;
  /** Throws PlatformError `key.taken` when the fingerprint is known or the user has a key of that name. */
  insertSshKey(key: SshKey): Promise<void>;
  /** By fingerprint; true when there was one. */
  deleteSshKey(email: string, fingerprint: string): Promise<boolean>;
  /** In place of the user's old one. Throws PlatformError `user.not_found`. */
  putApiKey(key: ApiKey): Promise<void>;
  /** Missing: nothing to do. */
  deleteApiKey(email: string): Promise<void>;
  /** Throws PlatformError `user.not_found`. */
  insertPasswordReset(reset: PasswordReset): Promise<void>;
  /** Whether the reset is there for this user, not expired at `now`. */
  hasPasswordReset(tokenHash: string, email: string, now: string): Promise<boolean>;
  /** True once at most: when the reset was there for this user, not expired at `now`; it is gone then. */
  takePasswordReset(tokenHash: string, email: string, now: string): Promise<boolean>;
  deletePasswordResets(email: string): Promise<void>;
  deleteExpiredPasswordResets(now: string): Promise<number>;
}
