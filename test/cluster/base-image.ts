/** Images out of this machine's own programs: what code is built on and runs on in the cluster, and the one that does nothing. */
import { globSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { findProgram } from '../../src/lib/find-program.ts';
import type { ImageParts } from '../support/image-registry.ts';
import { programEntries, treeEntries } from '../support/real-images.ts';
import type { TarEntry } from '../support/tar-writer.ts';

const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';
const SYSTEM_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
const SERVER_PROGRAMS = [
  ...['git', 'bwrap', 'env', 'setpriv', 'prlimit', 'nsenter', 'unshare', 'mount', 'umount', 'ip', 'nft', 'tee', 'tar'],
  ...['sleep', 'xargs', 'cat'],
];
const APPLETS =
  'awk basename cat chmod chown cp cut date dirname echo env expr false find grep head hostname id kill ln ls mkdir mktemp mv printf ps pwd readlink rm rmdir sed seq setsid sh sleep sort stat stty tail tar tee test touch tr true tty uname uniq wc wget which whoami xargs';

/** Node and npm, with what their loader needs, and the small programs that builds and commands use. */
export function nodeImage(busybox: string, npm: string): ImageParts {
  const data = readFileSync(realpathSync(process.execPath));
  return imageOf(busybox, [...nodeLibraries(), { path: 'usr/bin/node', data, mode: 0o755 }, ...npmEntries(npm)]);
}

const nodeLibraries = (): TarEntry[] => librariesOf(realpathSync(process.execPath));

function librariesOf(program: string): TarEntry[] {
  return programEntries(program).filter(({ path }) => `/${path}` !== program);
}

/** Of packages of ours that are no JavaScript. */
function nativeLibraries(): TarEntry[] {
  const files = globSync(path.resolve('node_modules/@node-rs/*/*.node'));
  return files.flatMap((file) => librariesOf(realpathSync(file)));
}

/** What servers of ours are put on, with what they need to build code. A sentence where it is not installed. */
export function serverImage(busybox: string): ImageParts | string {
  const missing = SERVER_PROGRAMS.filter((name) => findProgram(name, SYSTEM_PATH) === null);
  if (missing.length > 0) return `there is no ${missing.join(', ')}`;
  const found = SERVER_PROGRAMS.flatMap((name) => programEntries(findProgram(name, SYSTEM_PATH) ?? ''));
  return imageOf(busybox, [...nodeLibraries(), ...nativeLibraries(), ...found, ...treeEntries('/usr/lib/git-core')]);
}

/** Isn't packed: nothing is read more often. */
function imageOf(busybox: string, programs: readonly TarEntry[]): ImageParts {
  const given = [...new Map(programs.map((entry) => [entry.path, entry])).values()];
  const names = new Set(given.map(({ path }) => path));
  const small = APPLETS.split(' ').map((name): TarEntry => ({
    path: `usr/bin/${name}`,
    type: 'symlink',
    target: 'busybox',
  }));
  const common: TarEntry[] = [
    ...['root', 'usr', 'usr/bin', 'usr/sbin', 'usr/lib', 'usr/lib64', 'etc', 'var', 'run'].map(directory(0o755)),
    ...['tmp', 'var/tmp'].map(directory(0o1777)),
    { path: 'usr/bin/busybox', data: readFileSync(realpathSync(busybox)), mode: 0o755 },
    ...small.filter(({ path }) => !names.has(path)),
    { path: 'etc/passwd', data: 'root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000::/tmp:/bin/sh\n', mode: 0o644 },
    { path: 'etc/group', data: 'root:x:0:\napp:x:1000:\n', mode: 0o644 },
  ];
  return {
    architecture: ARCHITECTURE,
    isPlain: true,
    config: { Cmd: ['/bin/sh'], Env: [`PATH=/usr/local/sbin:/usr/local/bin:${SYSTEM_PATH}`] },
    layers: [[...given.filter(isLink), ...common, ...given.filter((entry) => !isLink(entry))]],
  };
}

/** `npm`: the program of this machine, a link into where it is installed. */
function npmEntries(npm: string): TarEntry[] {
  const program = realpathSync(npm);
  const home = path.dirname(path.dirname(program));
  const place = 'usr/lib/node_modules/npm';
  const files = treeEntries(home).map((entry) => ({ ...entry, path: entry.path.replace(home.slice(1), place) }));
  const target = `../lib/node_modules/npm/${path.relative(home, program)}`;
  return [...files, { path: 'usr/bin/npm', type: 'symlink', target }];
}

export function pauseImage(busybox: string): ImageParts {
  const program: TarEntry = { path: 'busybox', data: readFileSync(realpathSync(busybox)), mode: 0o755 };
  return {
    architecture: ARCHITECTURE,
    isPlain: true,
    config: { Entrypoint: ['/busybox', 'sleep', '2147483647'] },
    layers: [[program]],
  };
}

/** An app of one page, which listens on port 8080. */
export function pageImage(busybox: string, page: string): ImageParts {
  const program: TarEntry = { path: 'busybox', data: readFileSync(realpathSync(busybox)), mode: 0o755 };
  return {
    architecture: ARCHITECTURE,
    isPlain: true,
    config: { Entrypoint: ['/busybox', 'httpd', '-f', '-p', '8080', '-h', '/www'], ExposedPorts: { '8080/tcp': {} } },
    layers: [[program, { path: 'www', type: 'directory', mode: 0o755 }, { path: 'www/index.html', data: page }]],
  };
}

/** Such as /bin, where that is part of /usr. */
const isLink = ({ path, type }: TarEntry): boolean => type === 'symlink' && !path.includes('/');

const directory =
  (mode: number) =>
  (path: string): TarEntry => ({ path, type: 'directory', mode });
