/** What a local repository is a copy of: written when it is one, so what a crash has left half-done is made anew. */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../../../lib/is-record.ts';
import { randomHex } from '../../../../lib/ids.ts';

export interface CacheState {
  readonly id: string;
  readonly version: number;
  /** Ids of the packs whose objects are here. */
  readonly packs: readonly string[];
}

const FILE = 'tancho-shared.json';

export async function readState(repository: string): Promise<CacheState | null> {
  const text = await readFile(join(repository, FILE), 'utf8').catch(() => '');
  // A file that was being written when the power went.
  if (!text.endsWith('}')) return null;
  const state: unknown = JSON.parse(text);
  if (!isRecord(state) || !Array.isArray(state['packs'])) return null;
  return { id: String(state['id']), version: Number(state['version']), packs: state['packs'].map(String) };
}

export async function writeState(repository: string, { id, version, packs }: CacheState): Promise<void> {
  const fresh = join(repository, `${FILE}.${randomHex(8)}`);
  await writeFile(fresh, JSON.stringify({ id, version, packs }));
  await rename(fresh, join(repository, FILE));
}

/** What is there is no copy from now on. */
export async function forgetState(repository: string): Promise<void> {
  await rm(join(repository, FILE), { force: true });
}
