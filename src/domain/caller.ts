/** Who is asking. Made by a door (HTTP token, SSH key, unix socket), judged by access.ts. */
export type Caller =
  | { readonly kind: 'anonymous'; readonly address: string }
  | UserCaller
  | AppCaller
  /** The platform itself: healers and recovery. */
  | { readonly kind: 'platform' };

/** An app token (specification 4.9): acts on its own app only. */
interface AppCaller {
  readonly kind: 'app';
  readonly app: string;
  /** Who made the token, as callerName() has it. */
  readonly by: string;
  /** Hash of the presented token. */
  readonly tokenHash: string;
  readonly address: string;
}

export interface UserCaller {
  readonly kind: 'user';
  readonly email: string;
  readonly isAdmin: boolean;
  /** Names of the teams the user belongs to, at the time of authentication. */
  readonly teams: readonly string[];
  readonly via: 'session' | 'api-key' | 'ssh-key' | 'password' | 'socket';
  /** Hash of the presented session token or API key; empty where there is none. */
  readonly tokenHash: string;
  readonly address: string;
}

export const PLATFORM: Caller = { kind: 'platform' };

/** May do what admins may: an admin, or the platform itself. */
export function isAdmin(caller: Caller): boolean {
  return caller.kind === 'platform' || (caller.kind === 'user' && caller.isAdmin);
}

/** How a caller is named in events, deploys and log lines. */
export function callerName(caller: Caller): string {
  if (caller.kind === 'user') return caller.email;
  if (caller.kind === 'app') return `app:${caller.app}`;
  return caller.kind;
}
