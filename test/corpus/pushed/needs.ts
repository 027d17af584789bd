/** What apps of the corpus need, looked at once. */
import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Need } from './pushed-app.ts';

const CHECKS: Readonly<Record<Need, readonly (readonly string[])[]>> = {
  npm: [['npm', 'ping', '--fetch-retries=0', '--fetch-timeout=5000']],
  python: [['python3', '-c', 'import venv, ensurepip']],
  pip: [['python3', '-m', 'pip', 'index', 'versions', 'click', '--retries', '0', '--timeout', '5']],
  go: [['go', 'version']],
  cargo: [
    ['cargo', '--version'],
    ['cc', '--version'],
  ],
  maven: [
    ['mvn', '--version'],
    ['javac', '-version'],
  ],
  php: [
    ['/usr/sbin/php-fpm8.2', '-v'],
    ['nginx', '-v'],
  ],
  composer: [['composer', '--version']],
  ruby: [
    ['puma', '--version'],
    ['bundle', '--version'],
  ],
  gradle: [['gradle', '--version']],
  'memory limits': [['test', '-d', '/sys/fs/cgroup']],
  images: [
    ['buildah', '--version'],
    ['/bin/busybox', 'true'],
  ],
  docker: [['docker', '--version']],
  'lock tools': [['python3', '-m', 'pip', 'index', 'versions', 'poetry', '--retries', '0', '--timeout', '5']],
  // What Poetry asks beside the index.
  'pypi.org': [
    ['python3', '-c', 'import urllib.request as r; r.urlopen("https://pypi.org/pypi/flask/3.1.3/json", timeout=8)'],
  ],
  // Where units have networks of their own: as root, with these.
  networks: [
    ['nft', '--version'],
    ['test', '-w', '/proc/sys/net/ipv4/ip_forward'],
  ],
};
const CHECK_MS = 30_000;

const known = new Map<Need, Promise<string | null>>();

/** Why the first of them is not there; null: all are. */
export async function missingNeed(needs: readonly Need[]): Promise<string | null> {
  for (const need of needs) {
    const found = known.get(need) ?? firstFailing(CHECKS[need]);
    known.set(need, found);
    const missing = await found;
    if (missing !== null) return missing;
  }
  return null;
}

async function firstFailing(commands: readonly (readonly string[])[]): Promise<string | null> {
  for (const [program = '', ...args] of commands) {
    const works = await promisify(execFile)(program, args, { timeout: CHECK_MS }).then(
      () => true,
      () => false,
    );
    if (!works) return `"${[program, ...args].join(' ')}" does not work here`;
  }
  return null;
}

/** A server of a test has a home of its own; the toolchains of rustup stay where they are. */
export const RUSTUP = { RUSTUP_HOME: process.env['RUSTUP_HOME'] ?? join(homedir(), '.rustup') };
