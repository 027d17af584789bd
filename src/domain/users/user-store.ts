import type { Session, SshKey, User } from './user.ts';

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
}

export interface UserWriter {
  /** Throws PlatformError `user.email_taken`. */
  insertUser(user: User): Promise<void>;
  updatePassword(email: string, passwordHash: string): Promise<void>;
  /** Also ends the user's sessions, keys and team memberships. */
  deleteUser(email: string): Promise<void>;
  insertSession(session: Session): Promise<void>;
  deleteSession(tokenHash: string): Promise<void>;
  deleteExpiredSessions(now: string): Promise<number>;
  /** Throws PlatformError `key.taken` when the fingerprint is known or the user has a key of that name. */
  insertSshKey(key: SshKey): Promise<void>;
  /** By fingerprint; true when there was one. */
  deleteSshKey(email: string, fingerprint: string): Promise<boolean>;
}
