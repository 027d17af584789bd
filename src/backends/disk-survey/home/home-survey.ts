/** Counts what lies in the one directory of the platform, by the system's `du`. */
import { execFile } from 'node:child_process';
import { lstat, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { DiskSurvey, Holding, HoldingKind } from '../../../domain/disk/disk-survey.ts';

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

export function createHomeSurvey({ home }: { readonly home: string }): DiskSurvey {
  return {
    async units() {
      const directory = join(home, 'units');
      const [bytes, files] = [await du(directory, 1), await du(directory, 1, 'files')];
      bytes.delete(directory);
      return new Map([...bytes].map(([path, held]) => [basename(path), { bytes: held, files: files.get(path) ?? 0 }]));
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
  if (name === 'images') return 'image cache';
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

/** Path -> bytes or files, of the directory and those so deep in it; not of other file systems. */
function du(directory: string, depth: number, what: 'bytes' | 'files' = 'bytes'): Promise<Map<string, number>> {
  const args = ['-x', what === 'files' ? '--inodes' : '-k', '-d', `${depth}`, '--', directory];
  const unit = what === 'files' ? 1 : 1024;
  return new Promise((resolve, reject) => {
    execFile('du', args, { timeout: DEADLINE_MS, maxBuffer: OUTPUT_BYTES }, (error, stdout) => {
      const lines = [...stdout.matchAll(/^(\d+)\t(.*)$/gm)];
      // Something that vanishes while it is counted is an error to the program, and none to us.
      if (error !== null && lines.length === 0) reject(error);
      else resolve(new Map(lines.map(([, count, path = '']) => [path, Number(count) * unit])));
    });
  });
}
