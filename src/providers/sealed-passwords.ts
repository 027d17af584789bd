/**
 * Passwords that a repeated bind has to answer again, kept in the provider's own server but of no use to whoever finds them
 * there: the key comes from the password the provider itself logs in with. After that has changed they cannot be opened,
 * and a repeat gets a new password.
 */
import { randomBytes, scrypt } from 'node:crypto';
import { randomHex } from '../lib/ids.ts';
import { SealError, Sealer } from '../lib/seal.ts';

export interface SealedPasswords {
  seal(password: string, context: string): string;
  /** Null: it was sealed with another key. */
  open(sealed: string, context: string): string | null;
}

/** `salt`: kept beside what is sealed. */
export async function createSealedPasswords(loginPassword: string, salt: string): Promise<SealedPasswords> {
  const secret = await new Promise<Buffer>((resolve, reject) => {
    scrypt(loginPassword, salt, 32, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
  const sealer = new Sealer([{ id: salt.slice(0, 8), secret }]);
  return {
    seal: (password, context) => sealer.seal(password, context),
    open(sealed, context) {
      try {
        return sealer.open(sealed, context);
      } catch (error) {
        if (error instanceof SealError) return null;
        throw error;
      }
    },
  };
}

export function newSalt(): string {
  return randomHex(32);
}

/** 256 bits in characters that need no escaping in a URL. */
export function newPassword(): string {
  return randomBytes(32).toString('base64url');
}
