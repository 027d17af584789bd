/** Pebble, the test server of Let's Encrypt, with the name server it asks; built by `go install`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { findProgram } from '../../src/lib/find-program.ts';
import { makeLeaf, makeRoot } from '../../src/lib/x509/certificate.ts';
import { newKey } from '../../src/lib/x509/names.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

export interface Pebble {
  readonly directory: string;
  /** File with the root of its own server. */
  readonly roots: string;
  /** `address:port` of the name server. */
  readonly dns: string;
  setTxt(record: string, value: string): Promise<void>;
  output(): string;
  close(): Promise<void>;
}

const programs = ['pebble', 'pebble-challtestsrv'].map(
  (name) => findProgram(name) ?? findProgram(path.join(homedir(), 'go', 'bin', name)),
);
/** '' when it can run here; else why not. */
export const WITHOUT_PEBBLE = programs.includes(null)
  ? 'Pebble is not installed: go install github.com/letsencrypt/pebble/v2/cmd/pebble@latest and .../pebble-challtestsrv@latest'
  : '';

/** It looks at names at these ports of this machine, whatever they are. */
export async function startPebble(ports: { readonly http: number; readonly tls: number }): Promise<Pebble> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tancho-pebble-'));
  const file = (name: string): string => path.join(directory, name);
  const rootKey = newKey();
  const key = newKey();
  const validity = { notBefore: new Date(Date.now() - 3_600_000), notAfter: new Date(Date.now() + 86_400_000) };
  const root = makeRoot('Pebble itself', rootKey, validity);
  const publicKey = createPublicKey(createPrivateKey(key));
  const leaf = makeLeaf({ certificate: root, key: rootKey }, ['127.0.0.1', 'localhost'], publicKey, validity);
  const [listen, management, dns, tests] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const config = {
    pebble: {
      listenAddress: `127.0.0.1:${listen}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: file('leaf.pem'),
      privateKey: file('key.pem'),
      httpPort: ports.http,
      tlsPort: ports.tls,
      ocspResponderURL: '',
      externalAccountBindingRequired: false,
      profiles: { default: { description: 'the usual one', validityPeriod: 3_888_000 } },
    },
  };
  await Promise.all([
    writeFile(file('roots.pem'), root),
    writeFile(file('leaf.pem'), leaf),
    writeFile(file('key.pem'), key),
    writeFile(file('config.json'), JSON.stringify(config)),
  ]);
  let printed = '';
  const run = (program: string | null | undefined, argv: readonly string[]): ChildProcess => {
    if (program === null || program === undefined) throw new Error(WITHOUT_PEBBLE);
    // Nonces are refused now and then, as an authority under load does it.
    const env = { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '20' };
    const child = spawn(program, [...argv], { stdio: ['ignore', 'pipe', 'pipe'], env });
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (text: Buffer) => (printed += text.toString()));
    return child;
  };
  const none = ['-doh', '', '-http01', '', '-https01', '', '-tlsalpn01', ''];
  const names = run(programs[1], [
    ...['-dnsserver', `127.0.0.1:${dns}`, '-management', `127.0.0.1:${tests}`, ...none],
    ...['-defaultIPv4', '127.0.0.1', '-defaultIPv6', ''],
  ]);
  const server = run(programs[0], ['-config', file('config.json'), '-dnsserver', `127.0.0.1:${dns}`]);
  await until(() => printed.includes('ACME directory available'), {
    timeoutMs: 60_000,
    what: 'Pebble',
    detail: () => printed,
  });
  return {
    directory: `https://127.0.0.1:${listen}/dir`,
    roots: file('roots.pem'),
    dns: `127.0.0.1:${dns}`,
    async setTxt(record, value) {
      const body = JSON.stringify({ host: `${record}.`, value });
      const answer = await fetch(`http://127.0.0.1:${tests}/set-txt`, { method: 'POST', body });
      if (!answer.ok) throw new Error(await answer.text());
    },
    output: () => printed,
    async close() {
      for (const child of [server, names]) {
        const gone = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGKILL');
        await gone;
      }
      await rm(directory, { recursive: true });
    },
  };
}
