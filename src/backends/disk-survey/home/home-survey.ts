/** Counts what lies in the one directory of the platform, by the system's `du`. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { DiskSurvey, Holding, HoldingKind } from '../../../domain/disk/disk-survey.ts';
import { demandSpawned } from '../../../lib/demand-spawned.ts';

/** Directories of the home whose entries have holders of their own. */
const SHARED: Readonly<Record<string, HoldingKind>> = {
  slugs: 'code',
  cache: 'build cache',
  repos: 'repository',
  units: 'unit',
  volumes: 'volume',
  toolchains: 'toolchain',
};
const DEADLINE_MS = 120_000;
const OUTPUT_BYTES = 16 * 1024 * 1024;
const BLOCK = 512;
const KIB = 1024;
const LINE = /^(\d+)\t(.*)$/gm;

export function createHomeSurvey({ home }: { readonly home: string }): DiskSurvey {
  return {
    async *units(ids, what) {
      const directory = join(home, 'units');
      const there = new Set(await readdir(directory).catch(() => []));
      const paths = ids.filter((id) => there.has(id)).map((id) => join(directory, id));
      if (paths.length === 0) return;
      for await (const [path, held] of counted(paths, what)) yield { id: basename(path), held };
    },
    async directories(paths, what, signal) {
      const there = paths.filter((path) => existsSync(path));
      const sizes = new Map<string, number>();
      if (there.length > 0) for await (const [path, held] of counted(there, what, signal)) sizes.set(path, held);
      return sizes;
    },
    async holdings() {
      const found: Holding[] = [];
      for (const entry of await readdir(home, { withFileTypes: true })) {
        const path = join(home, entry.name);
        const kind = SHARED[entry.name];
        if (!entry.isDirectory()) found.push(await file(path));
        else if (kind === undefined)
          found.push({ kind: kindOf(entry.name), name: entry.name, bytes: await sizeOf(path) });
        else found.push(...(await entriesOf(path, kind)));
      }
      return found.filter(({ bytes }) => bytes > 0);
    },
  };
}

async function file(path: string): Promise<Holding> {
  const name = basename(path);
  const blocks = await lstat(path).then(
    (stats) => stats.blocks,
    () => 0,
  );
  return { kind: kindOf(name), name, bytes: blocks * BLOCK };
}

function kindOf(name: string): HoldingKind {
  if (name === 'images' || name === 'bases') return 'image cache';
  if (name === 'backups') return 'backup';
  if (/^logs\.db|^log$/.test(name)) return 'log';
  return name.startsWith('tancho.db') ? 'database' : 'other';
}

async function entriesOf(directory: string, kind: HoldingKind): Promise<Holding[]> {
  const sizes = await du(directory, 1);
  sizes.delete(directory);
  return [...sizes].map(([path, bytes]) => ({ kind, name: basename(path).replace(/\.git$/, ''), bytes }));
}

async function sizeOf(directory: string): Promise<number> {
  return (await du(directory, 0)).get(directory) ?? 0;
}

/** Path -> bytes, of the directory and those so deep in it; not of other file systems. */
function du(directory: string, depth: number): Promise<Map<string, number>> {
  const args = ['-x', '-k', '-d', `${depth}`, '--', directory];
  return new Promise((resolve, reject) => {
    execFile('du', args, { timeout: DEADLINE_MS, maxBuffer: OUTPUT_BYTES }, (error, stdout) => {
      const lines = [...stdout.matchAll(LINE)];
      // Something that vanishes while it is counted is an error to the program, and none to us.
      if (error !== null && lines.length === 0) reject(error);
      else resolve(new Map(lines.map(([, count, path = '']) => [path, Number(count) * KIB])));
    });
  });
}

/** Each directory when it has been gone through, with its bytes or its files. Throws when the signal fires. */
async function* counted(
  paths: readonly string[],
  what: 'bytes' | 'files',
  signal?: AbortSignal,
): AsyncGenerator<[path: string, held: number]> {
  const unit = what === 'files' ? 1 : KIB;
  const args = ['-x', '-s', what === 'files' ? '--inodes' : '-k', '--', ...paths];
  const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
  const child = demandSpawned(spawn('du', args, { stdio, timeout: DEADLINE_MS, signal }));
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  failed.catch(() => undefined);
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    for (;;) {
      const { value, done } = await Promise.race([lines.next(), failed]);
      if (done === true) return;
      const [, count, path = ''] = /^(\d+)\t(.*)$/.exec(value) ?? [];
      if (count !== undefined) yield [path, Number(count) * unit];
    }
  } finally {
    child.kill('SIGKILL');
  }
}
