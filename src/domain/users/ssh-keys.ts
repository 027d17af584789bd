/** Reads a public key as OpenSSH writes it (`<type> <base64> [comment]`) and refuses what is weak or malformed. */
import { keyFingerprint } from '../../lib/key-fingerprint.ts';
import { PlatformError } from '../errors.ts';

export interface ParsedKey {
  /** `<type> <base64>` */
  readonly key: string;
  /** `SHA256:...` as ssh-keygen prints it. */
  readonly fingerprint: string;
  /** '' when there is none. */
  readonly comment: string;
}

const MAX_LENGTH = 16_384;
const RSA_BITS = { min: 2_048, max: 16_384 };
const ED25519_BYTES = 32;
/** Curve name -> bytes of an uncompressed point. */
const CURVES: Readonly<Record<string, number>> = { nistp256: 65, nistp384: 97, nistp521: 133 };
const ECDSA = 'ecdsa-sha2-';

/** Throws `key.invalid`, saying why. */
export function parseSshKey(text: unknown): ParsedKey {
  if (typeof text !== 'string' || text.trim() === '') throw invalid('Missing key content');
  const line = text.trim();
  if (line.length > MAX_LENGTH) throw invalid('The key is too long.');
  if (/[\r\n]/.test(line)) throw invalid('A key is one line.');
  if (line.includes('PRIVATE KEY')) throw invalid('This is a private key. Keep it secret.');
  const [type = '', base64 = '', ...comment] = line.split(/[ \t]+/);
  const blob = Buffer.from(base64, 'base64');
  if (blob.length === 0 || unpadded(blob.toString('base64')) !== unpadded(base64)) {
    throw invalid('The key is not of the form "<type> <base64> [comment]".');
  }
  checkBlob(type, blob);
  return {
    key: `${type} ${blob.toString('base64')}`,
    fingerprint: keyFingerprint(blob),
    comment: comment.join(' '),
  };
}

function checkBlob(type: string, blob: Buffer): void {
  const fields = fieldsOf(blob);
  const [name, first, second] = fields;
  if (name?.toString('latin1') !== type) throw invalid('The key does not match its type.');
  if (type === 'ssh-ed25519') {
    if (fields.length !== 2 || first?.length !== ED25519_BYTES) throw invalid('The ed25519 key is damaged.');
  } else if (type === 'ssh-rsa') {
    if (fields.length !== 3 || first === undefined || second === undefined) throw invalid('The RSA key is damaged.');
    const bits = bitLength(second);
    if (bits < RSA_BITS.min || bits > RSA_BITS.max) {
      throw invalid(`An RSA key needs ${RSA_BITS.min} to ${RSA_BITS.max} bits, this one has ${bits}.`);
    }
  } else if (type.startsWith(ECDSA)) {
    const curve = type.slice(ECDSA.length);
    const size = Object.hasOwn(CURVES, curve) ? CURVES[curve] : undefined;
    const whole = fields.length === 3 && first?.toString('latin1') === curve && second?.[0] === 4;
    if (size === undefined || !whole || second?.length !== size) throw invalid('The ECDSA key is damaged.');
  } else {
    throw invalid(`Keys of type "${type.slice(0, 40)}" are not accepted.`);
  }
}

/** The length-prefixed fields of an SSH blob; throws when they do not fill it exactly. */
function fieldsOf(blob: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  let at = 0;
  while (at < blob.length) {
    const end = at + 4 <= blob.length ? at + 4 + blob.readUInt32BE(at) : Infinity;
    if (end > blob.length) throw invalid('The key is cut off or damaged.');
    fields.push(blob.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

function bitLength(mpint: Buffer): number {
  const start = mpint.findIndex((byte) => byte !== 0);
  return start === -1 ? 0 : (mpint.length - start) * 8 - Math.clz32(mpint[start] ?? 0) + 24;
}

function unpadded(base64: string): string {
  return base64.replace(/=+$/, '');
}

function invalid(message: string): PlatformError {
  return new PlatformError('key.invalid', message, {
    hint: 'Give the one line of a public key file, e.g. ~/.ssh/id_ed25519.pub: ssh-ed25519, ecdsa-sha2-* or ssh-rsa of 2048 bits or more.',
  });
}
