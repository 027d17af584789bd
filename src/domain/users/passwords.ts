/** Passwords: their rule, and argon2id hashes as PHC strings (19 MiB, two passes). Nothing here remembers one. */
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import { PlatformError } from '../errors.ts';

const MIN_CHARACTERS = 6;
const MAX_CHARACTERS = 50;
/** A character is one or two units of a string. What is far too long is not even counted. */
const MAX_UNITS = 2 * MAX_CHARACTERS;
/** Hashing runs in the same few threads as all work on files, so it may never have them all. */
const QUEUES = 2;
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Throws `user.invalid_password` (specification 4.7 and 8: 6 to 50 characters). */
export function checkPassword(password: unknown): string {
  const characters = typeof password === 'string' ? lengthOf(password) : 0;
  if (typeof password !== 'string' || characters < MIN_CHARACTERS || characters > MAX_CHARACTERS) {
    throw new PlatformError(
      'user.invalid_password',
      `password length should be at least ${MIN_CHARACTERS} characters and at most ${MAX_CHARACTERS} characters`,
      { hint: 'Choose a longer passphrase, up to 50 characters.' },
    );
  }
  return password;
}

/** Loaded with the first password: a server sees tokens and keys, and none of these for days. */
const argon2 = () => import('@node-rs/argon2');

export function hashPassword(password: string): Promise<string> {
  return inQueue(async () => (await argon2()).hash(password, COST));
}

let decoy: Promise<string> | undefined;

/** With `passwordHash` null it takes the time of a real comparison and answers false, so that nobody learns who exists. */
export async function passwordMatches(passwordHash: string | null, password: string): Promise<boolean> {
  if (lengthOf(password) > MAX_CHARACTERS) return false;
  decoy ??= hashPassword('no account has this password');
  const known = passwordHash ?? (await decoy);
  const matches = await inQueue(async () => (await argon2()).verify(known, password));
  return matches && passwordHash !== null;
}

function lengthOf(password: string): number {
  return password.length > MAX_UNITS ? password.length : [...password].length;
}

const queues = new KeyedQueue();
let next = 0;

function inQueue<T>(work: () => Promise<T>): Promise<T> {
  next = (next + 1) % QUEUES;
  return queues.run(`${next}`, work);
}
