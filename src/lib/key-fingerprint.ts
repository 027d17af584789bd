import { createHash } from 'node:crypto';

/** Of the bytes of an SSH public key, as `ssh-keygen -l` prints it: `SHA256:...`. */
export function keyFingerprint(blob: Uint8Array): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}
