/**
 * Puts a backup into a home that has nothing yet, all of it or nothing: it is unpacked in a directory of the home, which gets another name once it is
 * whole and on disk; from then on the restore is only moved into place, however often that is cut off. Nobody else starts on such a home.
 */
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createZstdDecompress } from 'node:zlib';
import { syncPath } from '../sync-path.ts';
import { demandGnuTar, startTar } from './start-tar.ts';
import { ARCHIVE, BackupDamaged, type BackupManifest, readManifest, verifyBackup } from './manifest.ts';
import { RestoreCutOff, UNPACKED, WHOLE, wholeIn } from './unfinished-restore.ts';

/** What a home may have before: the settings of this machine, which stay, and what says who works in it. */
const MAY_BE_THERE: ReadonlySet<string> = new Set(['config.yaml', 'run']);

/** Of a disk that is busy with other things, too. */
const SYNC_MS = 600_000;
/** Of directories that are not in the archive themselves: who is to have something below them passes through. */
const MODE_OF_OTHERS = 0o066;

export class HomeNotEmpty extends Error {
  override readonly name = 'HomeNotEmpty';
}

export class OtherHome extends Error {
  override readonly name = 'OtherHome';
  readonly home: string;

  constructor(home: string) {
    super(`The backup is one of ${home}: built code names paths below it.`);
    this.home = home;
  }
}

/** Throws NotGnuTar, HomeNotEmpty, RestoreCutOff, OtherHome and BackupDamaged, before anything is in its place. */
export async function restoreBackup(home: string, path: string): Promise<BackupManifest> {
  await demandGnuTar();
  const there: string[] = await readdir(home).catch(() => []);
  const begun = wholeIn(there);
  if (begun !== null) {
    const manifest = await readManifest(path);
    if (manifest.name !== begun) throw new RestoreCutOff(home, begun);
    await putInPlace(home, manifest);
    return manifest;
  }
  const left = there.filter((name) => !MAY_BE_THERE.has(name) && name !== UNPACKED);
  if (left.length > 0) throw new HomeNotEmpty(`${home} has ${left.slice(0, 3).join(', ')} already.`);
  const manifest = await verifyBackup(path);
  if (manifest.home !== home) throw new OtherHome(manifest.home);
  const draft = join(home, UNPACKED);
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  try {
    await unpack(join(path, ARCHIVE), draft);
    for (const { name } of manifest.files) if (name !== ARCHIVE) await copyFile(join(path, name), join(draft, name));
    // All files of it, which tar leaves to the system to write.
    await promisify(execFile)('sync', ['-f', draft], { timeout: SYNC_MS });
    await rename(draft, join(home, WHOLE + manifest.name));
  } catch (error) {
    // The disk may be full of it, and whoever gives it up can start on the home.
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
  await syncPath(home);
  await putInPlace(home, manifest);
  return manifest;
}

/** Can be cut off and done again at every step. */
async function putInPlace(home: string, { name: backup }: BackupManifest): Promise<void> {
  const whole = join(home, WHOLE + backup);
  const there = await readdir(home);
  for (const name of await readdir(whole)) {
    if (!MAY_BE_THERE.has(name) || !there.includes(name)) await rename(join(whole, name), join(home, name));
  }
  await syncPath(home);
  await rm(whole, { recursive: true });
  await syncPath(home);
}

/** Names are judged before anything is written; links that lead elsewhere come last, which is tar's own way. */
async function unpack(file: string, into: string): Promise<void> {
  await demandAllBelow(file);
  const tar = startTar(['-x', '-p', '-f', '-', '--numeric-owner', '-C', into], MODE_OF_OTHERS);
  // It may end before it has read everything: its end says why.
  await pipeline(createReadStream(file), createZstdDecompress(), tar.child.stdin).catch(() => undefined);
  const { code, errors, isTooDeepOnly } = await tar.ended;
  if (code !== 0 && !isTooDeepOnly)
    throw new Error(`${ARCHIVE} was not unpacked: ${errors || `tar ended with ${code}`}`);
}

async function demandAllBelow(file: string): Promise<void> {
  const { Parser } = await import('tar');
  let problem: Error | null = null;
  const parser = new Parser({
    strict: true,
    onReadEntry(entry) {
      const { path, type, linkpath = '' } = entry;
      problem ??= outsideOf(path) ?? (type === 'Link' ? outsideOf(linkpath) : null);
      entry.resume();
    },
  });
  parser.on('error', (error: Error) => (problem ??= error));
  await pipeline(createReadStream(file), createZstdDecompress(), async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) parser.write(piece);
    parser.end();
  });
  if (problem !== null) throw problem as Error;
}

function outsideOf(path: string): BackupDamaged | null {
  if (!isAbsolute(path) && !path.split('/').includes('..')) return null;
  return new BackupDamaged(`${ARCHIVE} has a file outside of the home: ${JSON.stringify(path.slice(0, 200))}.`);
}
