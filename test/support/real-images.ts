/** Images of programs that people run, put together from what this machine has installed: unchanged programs, with their own configuration. */
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { findProgram } from '../../src/lib/find-program.ts';
import type { ImageParts } from './image-registry.ts';
import type { TarEntry } from './tar-writer.ts';

const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';
const BUILD_MS = 300_000;

/** The file, and as links what leads to it; where its directory is a link, it lies where that leads. */
function fileEntries(file: string): TarEntry[] {
  const place = path.join(realpathSync(path.dirname(file)), path.basename(file));
  const at = place.slice(1);
  const facts = lstatSync(place);
  if (facts.isDirectory()) return treeEntries(place);
  if (!facts.isSymbolicLink()) return [{ path: at, data: readFileSync(place), mode: facts.mode & 0o777 }];
  const target = readlinkSync(place);
  return [{ path: at, type: 'symlink', target }, ...fileEntries(path.resolve(path.dirname(place), target))];
}

export function treeEntries(directory: string): TarEntry[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const child = path.join(directory, entry.name);
    return entry.isDirectory() ? treeEntries(child) : fileEntries(child);
  });
}

/** A program with what its loader needs. */
export function programEntries(program: string): TarEntry[] {
  const printed = execFileSync('ldd', [program], { encoding: 'utf8' });
  const libraries = [...printed.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, file = '']) => file);
  const roots = ['bin', 'sbin', 'lib', 'lib64'].filter((name) => lstatSync(`/${name}`).isSymbolicLink());
  const links = roots.map((name): TarEntry => ({ path: name, type: 'symlink', target: readlinkSync(`/${name}`) }));
  return [...links, ...[program, ...libraries].flatMap(fileEntries)];
}

const directories = (...names: string[]): TarEntry[] =>
  names.map((name) => ({ path: name, type: 'directory', mode: 0o777 }));

function once(entries: readonly TarEntry[]): TarEntry[] {
  return [...new Map(entries.map((entry) => [entry.path, entry])).values()];
}

/** With the configuration that comes with the package, which listens on port 80. A sentence where it is not installed. */
export function nginxImage(): ImageParts | string {
  const program = findProgram('nginx');
  if (program === null || !existsSync('/etc/nginx/sites-enabled/default'))
    return 'nginx is not installed as Debian has it';
  const modules = treeEntries('/usr/share/nginx').concat(
    existsSync('/usr/lib/nginx') ? treeEntries('/usr/lib/nginx/modules') : [],
  );
  const settings = [...treeEntries('/etc/nginx'), ...['/etc/passwd', '/etc/group'].flatMap(fileEntries)];
  const empty = directories('run', 'tmp', 'var/log/nginx', 'var/lib/nginx');
  const page: TarEntry = { path: 'var/www/html/index.html', data: 'served by nginx\n' };
  return {
    architecture: ARCHITECTURE,
    layers: [once([...programEntries(program), ...modules, ...settings]), [...empty, page]],
    config: { Entrypoint: [program], Cmd: ['-g', 'daemon off;'], ExposedPorts: { '80/tcp': {} } },
  };
}

/** As the well-known image starts it. A sentence where it is not installed. */
export function redisImage(): ImageParts | string {
  const program = findProgram('redis-server');
  if (program === null) return 'redis-server is not installed';
  return {
    architecture: ARCHITECTURE,
    layers: [once(programEntries(program)), directories('data', 'tmp')],
    config: {
      Entrypoint: [program],
      Cmd: ['--protected-mode', 'no'],
      WorkingDir: '/data',
      ExposedPorts: { '6379/tcp': {} },
    },
  };
}

const WHOAMI = `package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(out http.ResponseWriter, in *http.Request) {
		host, _ := os.Hostname()
		fmt.Fprintf(out, "Hostname: %s\\nHost: %s\\n%s %s\\n", host, in.Host, in.Method, in.URL)
	})
	if err := http.ListenAndServe(":80", nil); err != nil {
		panic(err)
	}
}
`;

/** One static program in an image of nothing else, which listens on port 80 whatever PORT says. A sentence where there is no Go. */
export async function whoamiImage(): Promise<ImageParts | string> {
  const go = findProgram('go', `${process.env['PATH'] ?? ''}:/usr/local/go/bin`);
  if (go === null) return 'Go is not installed';
  const place = await mkdtemp(path.join(tmpdir(), 'tancho-whoami-'));
  try {
    await writeFile(path.join(place, 'main.go'), WHOAMI);
    await writeFile(path.join(place, 'go.mod'), 'module whoami\n\ngo 1.20\n');
    const env = {
      PATH: process.env['PATH'] ?? '',
      // With what is compiled already.
      HOME: homedir(),
      CGO_ENABLED: '0',
      GOFLAGS: '-mod=mod',
      GOTOOLCHAIN: 'local',
    };
    execFileSync(go, ['build', '-o', 'whoami', '.'], { cwd: place, env, timeout: BUILD_MS, stdio: 'pipe' });
    const program = { path: 'whoami', data: readFileSync(path.join(place, 'whoami')), mode: 0o755 };
    return {
      architecture: ARCHITECTURE,
      layers: [[program]],
      config: { Entrypoint: ['/whoami'], ExposedPorts: { '80/tcp': {} } },
    };
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}
