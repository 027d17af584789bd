/**
 * Encrypts what must be readable again but never lie around in the clear (AES-256-GCM). Owns the key file; does not
 * know what is sealed.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { link, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { randomHex } from './ids.ts';

interface SealKey {
  /** First 8 hexadecimal digits of the SHA-256 of the secret, so that a mistyped key is noticed. */
  readonly id: string;
  /** 32 bytes. */
  readonly secret: Buffer;
}

/** The message is one line for the operator, without any secret. */
export class SealError extends Error {
  override readonly name = 'SealError';
  /** The message says what to do. */
  readonly hint = '';
}

const FORMAT = 's1';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_FILE_BYTES = 64 * 1024;

/** The first key seals, every key opens. */
export class Sealer {
  readonly #first: SealKey;
  readonly #keys: ReadonlyMap<string, SealKey>;

  constructor(keys: readonly SealKey[]) {
    const [first] = keys;
    if (first === undefined) throw new SealError('There is no key to seal with.');
    this.#first = first;
    this.#keys = new Map(keys.map((key) => [key.id, key]));
  }

  /**
   * `context` says what the text is (`env:<app>:<name>`) and must be the same to open it, so that a sealed text
   * copied to another place does not open there. Answers `s1.<key id>.<base64url>`.
   */
  seal(text: string, context: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#first.secret, nonce).setAAD(associated(this.#first.id, context));
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${FORMAT}.${this.#first.id}.${sealed.toString('base64url')}`;
  }

  /** Throws SealError when the key is not known, or the text is damaged or belongs elsewhere. */
  open(sealed: string, context: string): string {
    const [format, id, body, ...more] = sealed.split('.');
    if (format !== FORMAT || id === undefined || body === undefined || more.length > 0) {
      throw new SealError(`The sealed value of ${context} is damaged.`);
    }
    const key = this.#keys.get(id);
    if (key === undefined) {
      throw new SealError(`The value of ${context} is sealed with key ${id}, which is not in the key file.`);
    }
    const bytes = Buffer.from(body, 'base64url');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new SealError(`The sealed value of ${context} is damaged.`);
    const decipher = createDecipheriv(CIPHER, key.secret, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(associated(id, context))
      .setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
    try {
      const text = decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch (error) {
      throw new SealError(`The sealed value of ${context} is damaged or belongs elsewhere.`, { cause: error });
    }
  }
}

export function newSealKey(): SealKey {
  return sealKey(randomBytes(KEY_BYTES));
}

/**
 * The sealer of a key file: one `<id> <base64>` per line, `#` starts a comment. The file is created with one new key,
 * mode 0600, when it does not exist; of two processes that do so at the same time one wins and both use its key.
 * Throws SealError when the file cannot be read, is damaged, or others may read it.
 */
export async function openSealer(file: string): Promise<Sealer> {
  const text = (await readKeyFile(file)) ?? (await createKeyFile(file, newKeyLine()));
  return new Sealer(keysOf(text, file));
}

/**
 * Makes the key file of a key that is given, its line as in another one. Throws SealError where there is a file with another key, or it is
 * no key.
 */
export async function placeSealKey(file: string, line: string): Promise<void> {
  const given = keysOf(line, 'that is given');
  const text = (await readKeyFile(file)) ?? (await createKeyFile(file, line.trim()));
  const there = keysOf(text, file);
  if (given[0]?.id === there[0]?.id) return;
  throw new SealError(`The key file ${file} holds another key than the one that is given; move one of them away.`);
}

function keysOf(text: string, file: string): SealKey[] {
  const keys = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => parseKey(line, file));
  if (keys.length === 0) throw new SealError(`The key file ${file} holds no key; restore it from a backup.`);
  return keys;
}

async function readKeyFile(file: string): Promise<string | null> {
  try {
    const handle = await open(file, 'r');
    try {
      const { mode, size } = await handle.stat().then((stat) => (stat.isFile() ? stat : { mode: 0, size: Infinity }));
      if (size > KEY_FILE_BYTES) throw new SealError(`${file} is not a key file.`);
      if ((mode & 0o077) !== 0) {
        throw new SealError(`The key file ${file} is open to others; run: chmod 600 ${file}`);
      }
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof SealError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new SealError(`The key file ${file} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
}

/** Written aside and linked into place, so that nobody ever sees half a file and nobody's file is replaced. */
async function createKeyFile(file: string, line: string): Promise<string> {
  const aside = `${file}.${randomHex(8)}`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const handle = await open(aside, 'wx', 0o600);
    try {
      await handle.writeFile(
        `# Without this file nobody can read the secrets in the database. Keep a copy.\n${line}\n`,
      );
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(aside, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await syncFolder(dirname(file));
  } catch (error) {
    throw new SealError(`The key file ${file} cannot be created: ${(error as Error).message}.`, { cause: error });
  } finally {
    await rm(aside, { force: true });
  }
  const text = await readKeyFile(file);
  if (text === null) throw new SealError(`The key file ${file} disappeared while it was created.`);
  return text;
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function parseKey(line: string, file: string): SealKey {
  const [id, encoded, ...more] = line.split(/\s+/);
  const secret = Buffer.from(encoded ?? '', 'base64');
  const key = sealKey(secret);
  if (more.length > 0 || secret.length !== KEY_BYTES || key.id !== id) {
    throw new SealError(`The key file ${file} is damaged; restore it from a backup.`);
  }
  return key;
}

function sealKey(secret: Buffer): SealKey {
  return { id: createHash('sha256').update(secret).digest('hex').slice(0, 8), secret };
}

/** A new key, as key files have it. */
export function newKeyLine(): string {
  return keyLine(newSealKey());
}

function keyLine(key: SealKey): string {
  return `${key.id} ${key.secret.toString('base64')}`;
}

function associated(id: string, context: string): Buffer {
  return Buffer.from(`${FORMAT}.${id}.${context}`, 'utf8');
}
