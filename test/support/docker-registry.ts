/** Debian's docker-registry, started for a test on a port of its own; null where it is not installed. */
import { spawn } from 'node:child_process';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../../src/lib/find-program.ts';
import { makeLeaf, makeRoot } from '../../src/lib/x509/certificate.ts';
import { newKey } from '../../src/lib/x509/names.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

export interface DockerRegistry {
  readonly host: string;
  /** File with the root that has signed its certificate; '' where it has none. */
  readonly roots: string;
  /** It is away, with all that it has, until startAgain(). */
  stop(): Promise<void>;
  startAgain(): Promise<void>;
  close(): Promise<void>;
}

export const DOCKER_REGISTRY = findProgram('docker-registry');

/** `hasTls`: with a certificate of an authority that nobody knows. */
export async function startDockerRegistry(program: string, hasTls = false): Promise<DockerRegistry> {
  const directory = mkdtempSync(join(tmpdir(), 'docker-registry-'));
  const host = `127.0.0.1:${await freePort()}`;
  const config = [
    'version: 0.1',
    'log: { level: error, accesslog: { disabled: true } }',
    `storage: { filesystem: { rootdirectory: ${join(directory, 'data')} }, delete: { enabled: true } }`,
    `http: { addr: "${host}"${hasTls ? `, tls: ${JSON.stringify(writeCertificate(directory))}` : ''} }`,
  ];
  const file = join(directory, 'config.yml');
  writeFileSync(file, `${config.join('\n')}\n`);
  let stop = async (): Promise<void> => {};
  const startAgain = async (): Promise<void> => {
    const child = spawn(program, ['serve', file], { stdio: 'ignore' });
    const gone = once(child, 'exit');
    stop = async () => {
      child.kill('SIGKILL');
      await gone;
    };
    await until(() => isListening(host), { what: 'docker-registry listens' });
  };
  const close = async (): Promise<void> => {
    await stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await startAgain();
    return { host, close, startAgain, stop: () => stop(), roots: hasTls ? join(directory, 'roots.pem') : '' };
  } catch (error) {
    await close();
    throw error;
  }
}

function isListening(host: string): Promise<boolean> {
  const { hostname, port } = new URL(`http://${host}`);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

function writeCertificate(directory: string): { readonly certificate: string; readonly key: string } {
  const [certificate, key, roots] = ['leaf.pem', 'key.pem', 'roots.pem'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const [rootKey, leafKey] = [newKey(), newKey()];
  const validity = { notBefore: new Date(Date.now() - 3_600_000), notAfter: new Date(Date.now() + 86_400_000) };
  const root = makeRoot("An operator's own", rootKey, validity);
  const signer = { certificate: root, key: rootKey };
  writeFileSync(certificate, makeLeaf(signer, ['127.0.0.1'], createPublicKey(createPrivateKey(leafKey)), validity));
  writeFileSync(key, leafKey);
  writeFileSync(roots, root);
  return { certificate, key };
}
