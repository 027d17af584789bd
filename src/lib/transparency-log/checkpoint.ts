/**
 * Signed statements of how a log stood: the checkpoints of https://c2sp.org/tlog-checkpoint, signed with Ed25519 as https://c2sp.org/signed-note says.
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { sha256 } from './tree.ts';

export interface Checkpoint {
  /** Name of the log, and of the key that signs for it. */
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
}

const ED25519 = 1;
const KEY_HASH_BYTES = 4;
const RAW_KEY_BYTES = 32;
/** What is before the 32 bytes of a public key in its DER form. */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const MAX_NOTE = 4_096;

/** `<name>+<hash>+<key>`, by which everybody can check what the log signs. */
export function verifierKey(origin: string, privateKeyPem: string): string {
  const raw = rawPublicKey(createPublicKey(createPrivateKey(privateKeyPem)));
  return `${origin}+${keyHash(origin, raw).toString('hex')}+${Buffer.concat([Buffer.of(ED25519), raw]).toString('base64')}`;
}

export function signCheckpoint(checkpoint: Checkpoint, privateKeyPem: string): string {
  const { origin, size, root } = checkpoint;
  const text = `${origin}\n${size}\n${root.toString('base64')}\n`;
  const key = createPrivateKey(privateKeyPem);
  const hash = keyHash(origin, rawPublicKey(createPublicKey(key)));
  const signature = Buffer.concat([hash, sign(null, Buffer.from(text), key)]);
  return `${text}\n\u2014 ${origin} ${signature.toString('base64')}\n`;
}

/** What it says, whoever has signed it; null for what is no checkpoint. */
export function parseCheckpoint(note: string): Checkpoint | null {
  const match = /^([^\n]+)\n(0|[1-9]\d{0,14})\n([A-Za-z0-9+/]{43}=)\n(?:[^\n]+\n)*\n\u2014 /.exec(
    note.slice(0, MAX_NOTE),
  );
  if (match === null) return null;
  const [, origin = '', size = '', root = ''] = match;
  return { origin, size: Number(size), root: Buffer.from(root, 'base64') };
}

/** Whether the owner of the key has signed it; false also for a key that is none. */
export function isSignedBy(note: string, verifier: string): boolean {
  const [name, hash, key] = [...verifier.split('+').slice(0, 2), verifier.split('+').slice(2).join('+')];
  const raw = Buffer.from(key ?? '', 'base64').subarray(1);
  if (name === undefined || raw.length !== RAW_KEY_BYTES || keyHash(name, raw).toString('hex') !== hash) return false;
  const at = note.lastIndexOf('\n\n');
  if (at === -1) return false;
  const text = Buffer.from(note.slice(0, at + 1));
  const publicKey = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, raw]), format: 'der', type: 'spki' });
  return note
    .slice(at + 2)
    .split('\n')
    .some((line) => {
      const [dash, signer, encoded] = line.split(' ');
      if (dash !== '\u2014' || signer !== name || encoded === undefined) return false;
      const signature = Buffer.from(encoded, 'base64');
      return (
        signature.subarray(0, KEY_HASH_BYTES).toString('hex') === hash &&
        verify(null, text, publicKey, signature.subarray(KEY_HASH_BYTES))
      );
    });
}

function rawPublicKey(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' }).subarray(SPKI_PREFIX.length);
}

function keyHash(name: string, raw: Buffer): Buffer {
  return sha256(Buffer.from(`${name}\n`), Buffer.of(ED25519), raw).subarray(0, KEY_HASH_BYTES);
}
