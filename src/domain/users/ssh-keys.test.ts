import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseSshKey } from './ssh-keys.ts';

/** Made with ssh-keygen; the fingerprints are those `ssh-keygen -l` printed. */
const KNOWN = [
  {
    type: 'ssh-ed25519',
    fingerprint: 'SHA256:ZWOVebmUbauHeZu/RUlNiDZ6b0Jw4hp2YgdxeAyGmmY',
    key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILNnqrzPHDNA2iqnq9+RoPsrkJB9rOuo2oOali77XDD5',
  },
  {
    type: 'ssh-rsa',
    fingerprint: 'SHA256:Sf8W94JGcOn3FRQZdBi55lAf5kzDQ5m1OrqZQPpwXuA',
    key: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDgXrKPNAWvrs2uTFdNd+E5BF4b0DH7Fb4r6CdlDsvu6wCEudD9gv/1Z3sXHHwV2AyC/uFXLzX2LjUHa4XSjurLL+Hl3OZ5dRfRkujICpTRXjI8SF36W7VZsPac7hoO4VL2duHpq3IjvHJBYRQGLPx+blK7Hb6bJ5cdBdHnZE0tNG8aPoqdu4SgoM2ysJXOfu0YRNDzcCWLuq2i0/58NXpO7No8VxyNFDd4fC2wm1hUq+DnnDtlTlWX7+vYnJ9/0Kksqo9wjDoZccBLDfNAnbaf5faUyVjG4EY7f29LB6fXoGCopssJpuFx/B0BHKg/6YzoarCO1cBPqDnVofN1aaQT',
  },
  {
    type: 'ecdsa-sha2-nistp256',
    fingerprint: 'SHA256:Nn2ZYXh25HKPGYTs9a0NwTLjixQUJcUcuQ6uJYaK7O8',
    key: 'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBG1EfEyE5hnAG9ilklyHIjnN5lffumqsFK1G32LHpXZtp71sP64fwK+o+TYW9YcFVrrdDs3BupCLmuJte9tScho=',
  },
  {
    type: 'ecdsa-sha2-nistp521',
    fingerprint: 'SHA256:OsPKvW12sMi0FhTXegMwvftO39biqRvNtbI0QjowOJ0',
    key: 'ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAFrRhTpkRvgxdZDD+LhXWfQp9O8xu3q3WAgM8PHZSxoNwY0WH6N/dY5i9XjsspeRnNaUu0ps5QWYFEjN2FUECJX1gAYEgQV44LngElh8J2E+vNKc9KX0wsTENdjUlrCM8Cs1YbRVcPS1sTwpQ3BMxZ0wQSfFOxjFz8jxuYfdThcfv9pMA==',
  },
];

function field(bytes: Uint8Array | string): Buffer {
  const content = Buffer.from(bytes as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}

function line(type: string, ...fields: (Uint8Array | string)[]): string {
  return `${type} ${Buffer.concat([field(type), ...fields.map(field)]).toString('base64')}`;
}

function rsa(bits: number): string {
  const { n = '', e = '' } = generateKeyPairSync('rsa', { modulusLength: bits }).publicKey.export({ format: 'jwk' });
  const modulus = Buffer.concat([Buffer.from([0]), Buffer.from(n, 'base64url')]);
  return line('ssh-rsa', Buffer.from(e, 'base64url'), modulus);
}

describe('a public key', () => {
  it.each(KNOWN)('$type is read, with the fingerprint OpenSSH prints', ({ key, fingerprint }) => {
    const parsed = parseSshKey(`  ${key} ann@laptop of hers\n`);
    expect(parsed).toEqual({ key, fingerprint, comment: 'ann@laptop of hers' });
  });

  it('of RSA needs 2048 bits', () => {
    expect(parseSshKey(rsa(2048)).comment).toBe('');
    expect(() => parseSshKey(rsa(1024))).toThrow('this one has 1024');
  });

  it.each([
    ['nothing', ''],
    ['no text', 42],
    ['one word', 'ssh-ed25519'],
    ['no base64', 'ssh-ed25519 !!!!'],
    ['another type inside', line('ssh-rsa', 'x').replace('ssh-rsa', 'ssh-ed25519')],
    ['a short key', line('ssh-ed25519', Buffer.alloc(31))],
    ['something behind the key', line('ssh-ed25519', Buffer.alloc(32), 'x')],
    ['a field that ends too early', `ssh-ed25519 ${field('ssh-ed25519').subarray(0, 9).toString('base64')}`],
    ['a length beyond the end', `ssh-ed25519 ${Buffer.from([255, 255, 255, 255, 1]).toString('base64')}`],
    ['an old type', line('ssh-dss', Buffer.alloc(20))],
    ['an unknown curve', line('ecdsa-sha2-constructor', 'constructor', Buffer.alloc(65, 4))],
    ['a compressed point', line('ecdsa-sha2-nistp256', 'nistp256', Buffer.alloc(65, 2))],
    ['two lines', `${line('ssh-ed25519', Buffer.alloc(32))}\n${line('ssh-ed25519', Buffer.alloc(32))}`],
    ['options in front', `command="sh" ${line('ssh-ed25519', Buffer.alloc(32))}`],
    ['a private key', '-----BEGIN OPENSSH PRIVATE KEY----- b3Bl'],
    ['far too much', `ssh-ed25519 ${'A'.repeat(20_000)}`],
  ])('is refused when it has %s', (_what, text) => {
    expect(() => parseSshKey(text)).toThrow(expect.objectContaining({ code: 'key.invalid' }));
  });
});
