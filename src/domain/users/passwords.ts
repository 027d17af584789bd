/** Passwords: their rule, and argon2id hashes as PHC strings (19 MiB, two passes). Nothing here remembers one. */
import { hash, verify } from '@node-rs/argon2';
import { PlatformError } from '../errors.ts';

const MIN_CHARACTERS = 6;
const MAX_CHARACTERS = 50;
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Throws `user.invalid_password` (specification 4.7 and 8: 6 to 50 characters). */
export function checkPassword(password: unknown): string {
  const characters = typeof password === 'string' ? [...password].length : 0;
  if (typeof password !== 'string' || characters < MIN_CHARACTERS || characters > MAX_CHARACTERS) {
    throw new PlatformError(
      'user.invalid_password',
      `password length should be at least ${MIN_CHARACTERS} characters and at most ${MAX_CHARACTERS} characters`,
      { hint: 'Choose a longer passphrase, up to 50 characters.' },
    );
  }
  return password;
}

export function hashPassword(password: string): Promise<string> {
  return hash(password, COST);
}

let decoy: Promise<string> | undefined;

/** With `passwordHash` null it takes the time of a real comparison and answers false, so that nobody learns who exists. */
export async function passwordMatches(passwordHash: string | null, password: string): Promise<boolean> {
  if ([...password].length > MAX_CHARACTERS) return false;
  decoy ??= hashPassword('no account has this password');
  const matches = await verify(passwordHash ?? (await decoy), password);
  return matches && passwordHash !== null;
}
