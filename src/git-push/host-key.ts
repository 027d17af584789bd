/** The SSH door's own identity: an ed25519 key in OpenSSH's format, made once. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PlatformError } from '../domain/errors.ts';
import type { Store } from '../domain/store.ts';
import { randomHex } from '../lib/ids.ts';
import type { Sealer } from '../lib/seal.ts';

const KEY_TYPE = 'ssh-ed25519';
const SETTING = 'ssh.host-key';

/** Reads the key, or makes one that nobody else may read. Two starts at once agree on one key. Errors: key.invalid. */
export async function loadHostKey(file: string): Promise<string> {
  const found = await readKey(file);
  if (found !== null) {
    if (!isMadeHere(found)) await demandKey(found, file);
    return found;
  }
  await mkdir(dirname(file), { recursive: true });
  const fresh = `${file}.${randomHex(8)}`;
  try {
    const handle = await open(fresh, 'wx', 0o600);
    try {
      await handle.writeFile(newHostKey());
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(fresh, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(fresh, { force: true });
  }
  const made = await readKey(file);
  if (made === null) throw new Error(`the host key ${file} disappeared while it was made`);
  return made;
}

/** That of all servers of a database: of whoever is first, from then on sealed in the store. */
export async function sharedHostKey(
  file: string,
  { store, sealer }: { readonly store: Pick<Store, 'setting' | 'transact'>; readonly sealer: Sealer },
): Promise<string> {
  const stored = await store.setting(SETTING);
  if (stored !== null) return sealer.open(stored, SETTING);
  const own = sealer.seal(await loadHostKey(file), SETTING);
  const first = await store.transact(async (tx) => {
    const other = await tx.setting(SETTING);
    if (other === null) await tx.setSetting(SETTING, own);
    return other ?? own;
  });
  return sealer.open(first, SETTING);
}

/** The same in a file: of a server that has its state for itself from now on. */
export async function keepSharedHostKey(
  file: string,
  { store, sealer }: { readonly store: Pick<Store, 'setting'>; readonly sealer: Sealer },
): Promise<void> {
  const stored = await store.setting(SETTING);
  if (stored === null) return;
  const key = sealer.open(stored, SETTING);
  if (key === (await readKey(file))) return;
  const fresh = `${file}.${randomHex(8)}`;
  await writeFile(fresh, key, { mode: 0o600, flush: true });
  await rename(fresh, file);
}

async function readKey(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function text(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** The operator's own key, or a damaged one: what reads the others takes memory that most servers need not spend at their start. */
async function demandKey(key: string, file: string): Promise<void> {
  const { default: ssh2 } = await import('ssh2');
  const parsed = ssh2.utils.parseKey(key);
  const isPrivate = !(parsed instanceof Error) && parsed.isPrivateKey();
  if (isPrivate) return;
  const why = parsed instanceof Error ? parsed.message : 'it is no private key';
  throw new PlatformError('key.invalid', `The SSH host key ${file} cannot be used: ${why}.`, {
    hint: 'Put the right file there, or move it away: a new key is made then, and SSH clients warn that the host has changed.',
  });
}

export function newHostKey(): string {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return encoded(Buffer.from(x, 'base64url'), Buffer.from(d, 'base64url'), randomBytes(4));
}

/** Whether it is a key as `newHostKey` makes them, undamaged. The fields have fixed lengths, so they are at fixed places. */
function isMadeHere(key: string): boolean {
  const body = Buffer.from(key.split('\n').slice(1, -2).join(''), 'base64');
  return key === encoded(body.subarray(62, 94), body.subarray(161, 193), body.subarray(98, 102));
}

/** The format is described in OpenSSH's PROTOCOL.key. `check` is any 4 bytes. */
function encoded(publicBytes: Buffer, seed: Buffer, check: Buffer): string {
  const publicBlob = Buffer.concat([text(KEY_TYPE), text(publicBytes)]);
  const unpadded = Buffer.concat([check, check, publicBlob, text(Buffer.concat([seed, publicBytes])), text('tancho')]);
  const padding = Buffer.from(Array.from({ length: (8 - (unpadded.length % 8)) % 8 }, (_, index) => index + 1));
  const count = Buffer.from([0, 0, 0, 1]);
  const body = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    text('none'),
    text('none'),
    text(''),
    count,
    text(publicBlob),
    text(Buffer.concat([unpadded, padding])),
  ]);
  const lines = body.toString('base64').match(/.{1,70}/g) ?? [];
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n');
}
