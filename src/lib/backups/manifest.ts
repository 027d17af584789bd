/**
 * What lies in a backup, a directory of its own: copies of the databases, an archive of files, and a manifest by which every byte of them is judged
 * before any is used. Kept for years: readers know every form that was ever written.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

export interface BackupManifest {
  readonly form: 1;
  readonly name: string;
  /** ISO 8601 UTC: everything in it was committed before its end, and what was committed before then is in it. */
  readonly madeAt: string;
  /** Of the program that made it. */
  readonly version: string;
  /** Where the home was: built code names paths below it. */
  readonly home: string;
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[];
  /** For people: what is in it, and what is not. */
  readonly contents: Readonly<Record<string, readonly string[]>>;
}

export const MANIFEST = 'manifest.json';
/** Files below the home, a tar file packed by zstd. */
export const ARCHIVE = 'home.tar.zst';

const NAME = /^tancho-\d{8}T\d{9}Z$/;
const FILE_NAME = /^[a-z][a-z.]{0,60}$/;

export class BackupDamaged extends Error {
  override readonly name = 'BackupDamaged';
}

export function backupName(at: Date): string {
  return `tancho-${at.toISOString().replace(/[-:.]/g, '')}`;
}

/** The whole ones of a directory, newest first. A directory that is not there has none. */
export async function listBackups(directory: string): Promise<BackupManifest[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const found: BackupManifest[] = [];
  for (const name of names
    .filter((one) => NAME.test(one))
    .sort()
    .reverse()) {
    const manifest = await readManifest(join(directory, name)).catch(() => null);
    if (manifest !== null) found.push(manifest);
  }
  return found;
}

/** Throws BackupDamaged. */
export async function readManifest(path: string): Promise<BackupManifest> {
  const text = await readFile(join(path, MANIFEST), 'utf8').catch(() => null);
  if (text === null) throw new BackupDamaged(`${path} is no backup: it has no ${MANIFEST}.`);
  let manifest: BackupManifest;
  try {
    manifest = JSON.parse(text) as BackupManifest;
  } catch {
    throw new BackupDamaged(`${join(path, MANIFEST)} is damaged.`);
  }
  if (manifest.form !== 1) throw new BackupDamaged(`${path} was made by a newer version of Tancho.`);
  if (
    !NAME.test(manifest.name) ||
    !Array.isArray(manifest.files) ||
    manifest.files.some(({ name }) => !FILE_NAME.test(name))
  )
    throw new BackupDamaged(`${join(path, MANIFEST)} is damaged.`);
  return manifest;
}

/** Reads every byte. Throws BackupDamaged with the name of the first file that is not as it was written. */
export async function verifyBackup(path: string): Promise<BackupManifest> {
  const manifest = await readManifest(path);
  for (const { name, bytes, sha256 } of manifest.files) {
    const is = await digestOf(join(path, name)).catch(() => null);
    if (is === null) throw new BackupDamaged(`${join(path, name)} is missing, or cannot be read.`);
    if (is.bytes !== bytes || is.sha256 !== sha256) throw new BackupDamaged(`${join(path, name)} is damaged.`);
  }
  return manifest;
}

export async function digestOf(file: string): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(file)) {
    hash.update(piece as Buffer);
    bytes += (piece as Buffer).length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
