/** Who is at the other end of an SSH connection: recognised by the fingerprint of a key, believed for its signature. */
import ssh2, { type AuthContext, type ParsedKey, type PublicKeyAuthContext } from 'ssh2';
import type { UserCaller } from '../domain/caller.ts';
import type { Users } from '../domain/users/users.ts';
import { keyFingerprint } from '../lib/key-fingerprint.ts';
import type { Logger } from '../lib/logger.ts';

interface KeyCheck {
  readonly users: Pick<Users, 'bySshKey'>;
  readonly logger: Logger;
  readonly address: string;
}

export interface KeyOwner {
  readonly caller: UserCaller;
  /** By which the owner can be asked for again. */
  readonly fingerprint: string;
}

const KEY_TYPES: ReadonlySet<string> = new Set([
  'ssh-ed25519',
  'ssh-rsa',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
]);

/**
 * The user who owns the offered key, or null. A client first asks whether a key would do, without a signature: the answer
 * to that may be given, but only a signed request makes a caller.
 */
export async function keyOwner(context: AuthContext, check: KeyCheck): Promise<KeyOwner | null> {
  if (context.method !== 'publickey') return null;
  const key = acceptableKey(context);
  if (key === null) return null;
  const fingerprint = keyFingerprint(context.key.data);
  const isSigned = context.signature !== undefined && context.blob !== undefined;
  if (context.signature !== undefined && context.blob !== undefined) {
    if (key.verify(context.blob, context.signature, context.hashAlgo) !== true) {
      check.logger.info({ fingerprint, address: check.address }, 'ssh key with a wrong signature');
      return null;
    }
  }
  const caller = await check.users.bySshKey(fingerprint, check.address);
  if (caller === null && !isSigned) check.logger.info({ fingerprint, address: check.address }, 'unknown ssh key');
  return caller === null ? null : { caller, fingerprint };
}

/** RSA only with SHA-2: a signature without its own hash name is SHA-1. */
function acceptableKey(context: PublicKeyAuthContext): ParsedKey | null {
  if (!KEY_TYPES.has(context.key.algo)) return null;
  if (context.key.algo === 'ssh-rsa' && context.hashAlgo === undefined) return null;
  const key = ssh2.utils.parseKey(context.key.data);
  if (key instanceof Error || key.type !== context.key.algo) return null;
  return key;
}
