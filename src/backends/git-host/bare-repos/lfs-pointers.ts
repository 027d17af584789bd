/** Files that are kept elsewhere, with Git LFS: what a commit has in their place is a few lines that name them. */
import { readFile } from 'node:fs/promises';

interface Candidates {
  /** Paths below the directory, whose bytes are latin1; regular files. */
  readonly small: readonly string[];
  readonly attributes: readonly string[];
}

const POINTER =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v\d+\n(?:ext-.*\n)*oid sha256:[0-9a-f]{64}\nsize \d+\n?$/;
const USES_LFS = /^[^#\n]*\sfilter=lfs(?:\s|$)/m;

/** Of the candidates, in a directory that nobody else has written to. */
export async function lfsPointers(directory: string, { small, attributes }: Candidates): Promise<string[]> {
  const read = async (path: string): Promise<string> =>
    readFile(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(path, 'latin1')]), 'latin1');
  let isUsed = false;
  for (const path of attributes) isUsed ||= USES_LFS.test(await read(path));
  if (!isUsed) return [];
  const pointers: string[] = [];
  for (const path of small) if (POINTER.test(await read(path))) pointers.push(path);
  return pointers;
}
