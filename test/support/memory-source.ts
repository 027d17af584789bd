/** A source tree in memory, for tests of plans. */
import { SourceFiles } from '../../src/build-plan/source/source-files.ts';
import type { SourceReader } from '../../src/build-plan/source/source-reader.ts';

type Files = Readonly<Record<string, string | Uint8Array>>;

/** Path -> text, or what is none. */
export function sourceOf(files: Files): SourceFiles {
  return new SourceFiles(memoryReader(files));
}

export function memoryReader(files: Files): SourceReader {
  const paths = Object.keys(files);
  const below = (directory: string): string[] => {
    const prefix = directory === '' ? '' : `${directory}/`;
    const inside = paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
    return [...new Set(inside.map((path) => path.split('/')[0] ?? ''))];
  };
  const isFile = (path: string): boolean => Object.hasOwn(files, path);
  return {
    kind: (path) => Promise.resolve(isFile(path) ? 'file' : below(path).length > 0 ? 'directory' : null),
    list: async (path) => {
      const names = isFile(path) ? [] : below(path);
      const inside = path === '' ? '' : `${path}/`;
      return names.length === 0
        ? null
        : names.map((name) => ({ name, kind: isFile(inside + name) ? 'file' : 'directory' }));
    },
    read: (path, most) => {
      if (!isFile(path)) return Promise.resolve(null);
      const bytes = Buffer.from(files[path] ?? '');
      return Promise.resolve({ bytes: bytes.subarray(0, most), size: bytes.length });
    },
  };
}
