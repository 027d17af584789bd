/** The SSH door's own identity: an ed25519 key in OpenSSH's format, made once. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { randomHex } from '../lib/ids.ts';

const KEY_TYPE = 'ssh-ed25519';

/** Reads the key, or makes one that nobody else may read. Two starts at once agree on one key. */
export async function loadHostKey(file: string): Promise<string> {
  const found = await readKey(file);
  if (found !== null) return found;
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

/** The format is described in OpenSSH's PROTOCOL.key. */
export function newHostKey(): string {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const [publicBytes, seed] = [Buffer.from(x, 'base64url'), Buffer.from(d, 'base64url')];
  const publicBlob = Buffer.concat([text(KEY_TYPE), text(publicBytes)]);
  const check = randomBytes(4);
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
