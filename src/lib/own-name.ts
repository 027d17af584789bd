import { readFile, rename, writeFile } from 'node:fs/promises';
import { randomHex } from './ids.ts';

const NAME = /^[0-9a-f]{16}$/;

/** A random name, made once and kept in a file: who comes after a crash goes by the name of who was there before. */
export async function ownName(file: string): Promise<string> {
  const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return NAME.test(kept.trim()) ? kept.trim() : newOwnName(file);
}

/** Another one from now on, for who must not be taken for who was there before. */
export async function newOwnName(file: string): Promise<string> {
  const name = randomHex(16);
  await writeFile(`${file}.new`, `${name}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return name;
}
