/**
 * What it takes to start a unit again while control is away, beside its record. Sealed, for the environment of an app holds its
 * secrets. It is there exactly while the unit is to serve.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { UnitSpec } from '../../../domain/units/provisioner.ts';
import type { Sealer } from '../../../lib/seal.ts';
import type { UnitPaths } from './unit-record.ts';

export async function keepLaunch(paths: UnitPaths, spec: UnitSpec, sealer: Sealer): Promise<void> {
  const draft = `${fileOf(paths)}.new`;
  await writeFile(draft, sealer.seal(JSON.stringify(spec), contextOf(spec.id)), { mode: 0o600 });
  await rename(draft, fileOf(paths));
}

/** Null when the unit is not to serve any more. Throws SealError. */
export async function keptLaunch(paths: UnitPaths, id: string, sealer: Sealer): Promise<UnitSpec | null> {
  try {
    return JSON.parse(sealer.open(await readFile(fileOf(paths), 'utf8'), contextOf(id))) as UnitSpec;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

export async function dropLaunch(paths: UnitPaths): Promise<void> {
  await rm(fileOf(paths), { force: true });
}

function fileOf({ directory }: UnitPaths): string {
  return join(directory, 'launch.sealed');
}

function contextOf(id: string): string {
  return `launch:${id}`;
}
