/**
 * Dependency directories kept as one archive: the app's own user packs and unpacks it in the sandbox, so that the server reads
 * and writes nothing below directories that are the tenant's. One large file is made and read in a fraction of the time that
 * ten thousands of small ones take. See docs/decisions/dependency-cache.md.
 */
import { lstat, mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { findProgram } from '../../../../lib/find-program.ts';
import type { Sandbox } from '../../../../sandbox/sandbox.ts';
import type { StepRunner } from '../steps/step-runner.ts';
import { seal } from './copy-tree.ts';

const FILE = '{layer}/files.tar';

export interface Archive {
  /** Of the layer: absolute. */
  readonly tree: string;
  /** Absolute. */
  readonly code: string;
  /** The kept directory, relative to the code. */
  readonly directory: string;
  readonly tenant: string;
}

/** False when the steps made no such directory, or nothing here can pack it. Throws what StepRunner.run throws. */
export async function packArchive(archive: Archive, sandbox: Sandbox, runner: StepRunner): Promise<boolean> {
  const { tree, code, directory, tenant } = archive;
  if (findProgram('tar') === null) return false;
  const stats = await lstat(join(code, directory)).catch(() => null);
  if (stats?.isDirectory() !== true) return false;
  await mkdir(tree, { mode: 0o755 });
  await sandbox.own(tree, tenant);
  const run = ['tar', '-c', '-f', FILE, basename(directory)];
  await runner.run({ name: 'tar', run, directory: dirname(directory) }, { layer: { tree, writable: true } });
  await seal(tree);
  return true;
}

/** Nothing is at `directory`. Throws what StepRunner.run throws. */
export async function unpackArchive({ tree, directory }: Archive, runner: StepRunner): Promise<void> {
  const above = dirname(directory);
  if (above !== '.') await runner.run({ name: 'mkdir', run: ['mkdir', '-p', '--', above] });
  const run = ['tar', '-x', '-p', '-o', '-f', FILE];
  await runner.run({ name: 'tar', run, directory: above }, { layer: { tree, writable: false } });
}
