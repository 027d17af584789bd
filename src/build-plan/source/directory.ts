/** A directory that somebody else wrote: nothing outside of it is ever read, whatever its links say. */
import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { SourceReader } from './source-reader.ts';

export function directoryReader(root: string): SourceReader {
  async function inside(path: string): Promise<string | null> {
    try {
      const top = await realpath(root);
      const real = await realpath(join(root, path));
      return real === top || real.startsWith(top + sep) ? real : null;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  return {
    async kind(path) {
      const real = await inside(path);
      if (real === null) return null;
      const stats = await stat(real);
      return stats.isDirectory() ? 'directory' : stats.isFile() ? 'file' : null;
    },

    async list(path) {
      const real = await inside(path);
      if (real === null || !(await stat(real)).isDirectory()) return null;
      const entries = await readdir(real, { withFileTypes: true });
      return entries.map((entry) => ({
        name: entry.name,
        kind: entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : null,
      }));
    },

    async read(path, most) {
      const real = await inside(path);
      if (real === null) return null;
      const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const stats = await file.stat();
        if (!stats.isFile()) return null;
        const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(most, stats.size)), 0, null, 0);
        return { bytes: buffer.subarray(0, bytesRead), size: stats.size };
      } finally {
        await file.close();
      }
    },
  };
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG'].some((each) => each === code);
}
