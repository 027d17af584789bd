/**
 * The servers of Kubernetes as one program: Debian has none of them, so they are built from the Go module proxy, once for each state of
 * servers/, and kept. `scripts/node test/cluster/program.ts` builds it, for who wants it beforehand; it takes some five minutes of two processors.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../../src/lib/find-program.ts';

export interface GoProgram {
  readonly name: string;
  /** Below the root of the project, where all of it is run; benchmarks are compiled to elsewhere. */
  readonly source: string;
}

const SERVERS: GoProgram = { name: 'kubernetes', source: path.resolve('test', 'cluster', 'servers') };
const FILES = ['go.mod', 'go.sum', 'main.go'];
const BUILD_MS = 30 * 60_000;

function placeOf({ name, source }: GoProgram): string {
  const digest = createHash('sha256');
  for (const file of FILES) digest.update(readFileSync(path.join(source, file)));
  const cache = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
  return path.join(cache, 'tancho-tests', `${name}-${digest.digest('hex').slice(0, 12)}`);
}

/** Null: it is not built. */
export function builtServers(): string | null {
  return existsSync(placeOf(SERVERS)) ? placeOf(SERVERS) : null;
}

/** Builds it unless it is there; whoever comes meanwhile waits. A sentence where that is not possible in `withinMs`. */
export async function buildServers(
  withinMs = BUILD_MS,
  wanted = SERVERS,
): Promise<{ readonly program: string } | string> {
  const program = placeOf(wanted);
  if (existsSync(program)) return { program };
  const [go, flock] = [findProgram('go', `${process.env['PATH'] ?? ''}:/usr/local/go/bin`), findProgram('flock')];
  if (go === null) return `Go is not installed, with which ${wanted.name} is built`;
  if (flock === null) return 'flock is not installed';
  mkdirSync(path.dirname(program), { recursive: true });
  const made = `${program}.${process.pid}`;
  // What debuggers need is not made: a twelfth of the work, and thrown away when it is linked.
  const flags = ['-trimpath', '-buildvcs=false', '-gcflags=all=-dwarf=false', '-ldflags=-s -w'];
  const build = [go, 'build', ...flags, '-o', made, '.'];
  const child = spawn(flock, [`${program}.lock`, process.execPath, ...thisFile(), program, ...build], {
    cwd: wanted.source,
    env: { ...process.env, GOFLAGS: '-mod=readonly' },
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: Math.min(withinMs, BUILD_MS),
  });
  await once(child, 'exit');
  if (existsSync(made)) renameSync(made, program);
  rmSync(made, { force: true });
  return existsSync(program) ? { program } : `${wanted.name} was not built in time (see what Go has printed)`;
}

function thisFile(): string[] {
  return [fileURLToPath(import.meta.url), 'unless-there'];
}

/** With the lock: somebody else may have built it meanwhile. */
async function unlessThere([program = '', file = '', ...args]: readonly string[]): Promise<void> {
  if (existsSync(program)) return;
  const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  await once(child, 'exit');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , command, ...rest] = process.argv;
  if (command === 'unless-there') await unlessThere(rest);
  else {
    const built = await buildServers();
    console.log(typeof built === 'string' ? built : built.program);
  }
}
