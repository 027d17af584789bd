/** Use cases of users (specification 4.7): accounts, sessions, SSH keys; and how every door recognises its caller. */
import type { Caller, UserCaller } from '../caller.ts';
import type { SshKey, User } from './user.ts';

export interface Users {
  /** Errors: user.invalid_email, user.invalid_password, user.email_taken, auth.registration_closed. */
  create(caller: Caller, input: { email: unknown; password: unknown }): Promise<User>;
  /**
   * Password login. Errors: user.invalid_password (empty or null, 400), user.not_found, auth.wrong_password, auth.throttled.
   * Throttled per account and per address.
   */
  login(email: string, password: unknown, address: string): Promise<{ token: string; isAdmin: boolean }>;
  /** Ends the presented session only. */
  logout(caller: Caller): Promise<void>;
  info(caller: Caller): Promise<{ email: string; teams: string[] }>;
  addKey(caller: Caller, input: { key: unknown; name?: unknown; force?: unknown }): Promise<SshKey>;
  /** By key text or by name. */
  removeKey(caller: Caller, input: { key?: unknown; name?: unknown }): Promise<void>;
  keys(caller: Caller): Promise<SshKey[]>;

  /** Token of an Authorization header -> caller; null when unknown or expired. */
  byToken(token: string, address: string): Promise<Caller | null>;
  /** `SHA256:...` fingerprint of a key whose possession the SSH door has verified; null when unknown. */
  bySshKey(fingerprint: string, address: string): Promise<UserCaller | null>;
  /** For git over HTTP: the password or any token of the user; null when wrong. Throttled like login. */
  byPassword(email: string, secret: string, address: string): Promise<UserCaller | null>;
  /** The owner of the machine, over the unix socket: acts as the longest-standing admin. */
  machineOwner(): Promise<UserCaller>;
  /** True when anybody may create an account (auth.registration). */
  readonly registrationOpen: boolean;
}
