import { opendir } from 'node:fs/promises';

/** Reads no more than the first names of the directory: there may be millions. */
export async function isEmpty(directory: string): Promise<boolean> {
  for await (const _ of await opendir(directory)) return false;
  return true;
}
