/** Images out of this machine's own programs: what code is built on and runs on in the cluster, and the one that does nothing. */
import { readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import type { ImageParts } from '../support/image-registry.ts';
import { programEntries, treeEntries } from '../support/real-images.ts';
import type { TarEntry } from '../support/tar-writer.ts';

const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';
const APPLETS =
  'awk basename cat chmod chown cp cut date dirname echo env expr false find grep head hostname id kill ln ls mkdir mktemp mv printf ps pwd readlink rm rmdir sed seq setsid sh sleep sort stat stty tail tar tee test touch tr true tty uname uniq wc wget which whoami xargs';

/** Node and npm, with what their loader needs, and the small programs that builds and commands use. Isn't packed: nothing is read more often. */
export function nodeImage(busybox: string, npm: string): ImageParts {
  const node = realpathSync(process.execPath);
  const libraries = programEntries(node).filter(({ path }) => `/${path}` !== node);
  const small: TarEntry[] = [
    ...['root', 'usr', 'usr/bin', 'usr/sbin', 'usr/lib', 'usr/lib64', 'etc', 'var'].map(directory(0o755)),
    ...['tmp', 'var/tmp'].map(directory(0o1777)),
    { path: 'usr/bin/busybox', data: readFileSync(realpathSync(busybox)), mode: 0o755 },
    ...APPLETS.split(' ').map((name): TarEntry => ({ path: `usr/bin/${name}`, type: 'symlink', target: 'busybox' })),
    { path: 'usr/bin/node', data: readFileSync(node), mode: 0o755 },
    ...npmEntries(npm),
    { path: 'etc/passwd', data: 'root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000::/tmp:/bin/sh\n', mode: 0o644 },
    { path: 'etc/group', data: 'root:x:0:\napp:x:1000:\n', mode: 0o644 },
  ];
  const config = { Cmd: ['/bin/sh'], Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'] };
  return {
    architecture: ARCHITECTURE,
    isPlain: true,
    config,
    layers: [[...libraries.filter(isLink), ...small, ...libraries.filter((entry) => !isLink(entry))]],
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

/** Such as /bin, where that is part of /usr. */
const isLink = ({ path, type }: TarEntry): boolean => type === 'symlink' && !path.includes('/');

const directory =
  (mode: number) =>
  (path: string): TarEntry => ({ path, type: 'directory', mode });
