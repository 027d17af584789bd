/** Certificates for tests, each signed by its own key, made by the machine's openssl. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface TestCertificate {
  /** PEM. */
  readonly chain: string;
  /** PEM. */
  readonly key: string;
}

export function testCertificate(...names: string[]): Promise<TestCertificate> {
  return certificateOf(names[0] ?? '', names);
}

/** Signed by itself, so the one that it is made out to is its issuer, too. */
export async function certificateOf(owner: string, names: readonly string[]): Promise<TestCertificate> {
  const directory = await mkdtemp(join(tmpdir(), 'certificate-'));
  const [keyFile, chainFile] = [join(directory, 'key'), join(directory, 'chain')];
  try {
    await promisify(execFile)('openssl', [
      ...['req', '-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-days', '30'],
      ...[
        '-subj',
        `/CN=${owner.replaceAll('/', String.raw`\/`)}`,
        '-addext',
        `subjectAltName=${names.map((name) => `DNS:${name}`).join()}`,
      ],
      ...['-keyout', keyFile, '-out', chainFile],
    ]);
    const [chain, key] = await Promise.all([readFile(chainFile, 'utf8'), readFile(keyFile, 'utf8')]);
    return { chain, key };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
