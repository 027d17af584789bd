import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { skipFor } from '../../../test/support/skips.ts';
import { makeAlpnCertificate, makeLeaf, makeRoot } from './certificate.ts';
import { childrenOf, DerError, integer, oid, oidText, readValues, sequence } from './der.ts';
import { factsOf, renewalId } from './inspect.ts';
import { newKey } from './names.ts';
import { certificatesIn, toPem } from './pem.ts';
import { certificateRequest } from './request.ts';

const DAY_MS = 86_400_000;
const validity = { notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + 90 * DAY_MS) };
const publicOf = (key: string) => createPublicKey(createPrivateKey(key));

/** What OpenSSL says to it; '' where this machine has none. */
function openssl(argv: readonly string[], files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'tancho-x509-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(directory, name), text);
    return execFileSync('openssl', argv, { cwd: directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } finally {
    rmSync(directory, { recursive: true });
  }
}
const hasOpenssl = (() => {
  try {
    return execFileSync('openssl', ['version'], { encoding: 'utf8' }).startsWith('OpenSSL');
  } catch {
    return false;
  }
})();

describe('DER', () => {
  it('reads what it wrote, of any size', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 5 }), (parts) => {
        const [whole] = readValues(sequence(...parts.map((part) => integer(part))));
        expect(childrenOf(whole).map(({ body }) => BigInt(`0x${body.toString('hex')}`))).toEqual(
          parts.map((part) => BigInt(`0x0${Buffer.from(part).toString('hex')}`)),
        );
      }),
    );
    for (const id of ['2.5.29.17', '1.2.840.113549.1.9.14', '1.3.6.1.5.5.7.1.31']) {
      expect(oidText(readValues(oid(id))[0])).toBe(id);
    }
  });

  it('ends at bytes of anybody with an error of its own', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (input) => {
        try {
          readValues(Buffer.from(input));
        } catch (error) {
          expect(error).toBeInstanceOf(DerError);
        }
      }),
    );
  });
});

describe('certificates', () => {
  const rootKey = newKey();
  const root = makeRoot('Test authority', rootKey, { ...validity, permitted: ['localhost'] });
  const key = newKey();
  const names = ['shop.localhost', '*.shop.localhost', '127.0.0.1', '::1'];
  const leaf = makeLeaf({ certificate: root, key: rootKey }, names, publicOf(key), validity);

  it('say what they were made of', () => {
    const facts = factsOf(leaf);
    expect(facts.names).toEqual(['shop.localhost', '*.shop.localhost', '127.0.0.1', '0:0:0:0:0:0:0:1']);
    expect(facts.issuer).toBe('Test authority');
    expect(Math.abs(facts.notAfter.getTime() - validity.notAfter.getTime())).toBeLessThan(1_000);
    const certificate = new X509Certificate(leaf);
    expect(certificate.verify(publicOf(rootKey))).toBe(true);
    expect(certificate.checkIssued(new X509Certificate(root))).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(certificate.ca).toBe(false);
    expect(new X509Certificate(root).ca).toBe(true);
  });

  it('have an id for renewal information that names authority and serial', () => {
    const [authority = '', serial = ''] = (renewalId(leaf) ?? '').split('.');
    expect(Buffer.from(authority, 'base64url')).toHaveLength(20);
    expect(Buffer.from(serial, 'base64url').toString('hex').toUpperCase()).toBe(new X509Certificate(leaf).serialNumber);
    expect(renewalId(root)).toBeNull();
  });

  it('answer a tls-alpn-01 challenge', () => {
    const pem = makeAlpnCertificate('www.example.com', Buffer.alloc(32, 7), newKey(), validity);
    expect(factsOf(pem).names).toEqual(['www.example.com']);
    expect(new X509Certificate(pem).raw.includes(Buffer.from('0420' + '07'.repeat(32), 'hex'))).toBe(true);
  });

  it('are taken by OpenSSL, and its requests verify', skipFor(!hasOpenssl && 'there is no openssl'), () => {
    const verify = ['verify', '-x509_strict', '-CAfile', 'root.pem', '-purpose', 'sslserver', 'leaf.pem'];
    expect(openssl(verify, { 'root.pem': root, 'leaf.pem': leaf })).toContain('leaf.pem: OK');
    const outside = makeLeaf({ certificate: root, key: rootKey }, ['www.example.com'], publicOf(key), validity);
    expect(() => openssl(verify, { 'root.pem': root, 'leaf.pem': outside })).toThrow('permitted subtree violation');
    const request = toPem('CERTIFICATE REQUEST', certificateRequest(['www.example.com', '*.example.com'], key));
    const shown = openssl(['req', '-in', 'request.pem', '-noout', '-text', '-verify'], { 'request.pem': request });
    expect(shown).toContain('DNS:www.example.com, DNS:*.example.com');
  });

  it('are found in text with other things in it', () => {
    expect(certificatesIn(`subject: x\n${leaf}\n\r\nissuer: y\n${root}${key}`)).toEqual([leaf, root]);
  });
});
