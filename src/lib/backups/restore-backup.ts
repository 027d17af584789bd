/** Puts a backup into a home that has nothing yet. The key comes last, so that a restore that was cut off is seen, and done anew. */
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { syncPath } from '../sync-path.ts';
import { demandGnuTar, startTar } from './start-tar.ts';
import { ARCHIVE, BackupDamaged, type BackupManifest, verifyBackup } from './manifest.ts';

/** There while a restore is under way, and after one that was cut off. */
const UNDER_WAY = '.restoring';
/** Without it there is nothing to read what is stored with, so it is what makes a restore a whole one. */
const LAST = 'secret.key';
/** What a home may have before: the settings of this machine, which stay, and what says who works in it. */
const MAY_BE_THERE: ReadonlySet<string> = new Set(['config.yaml', 'run']);

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

/** Throws NotGnuTar, HomeNotEmpty, OtherHome and BackupDamaged, before anything is in its place. */
export async function restoreBackup(home: string, path: string): Promise<BackupManifest> {
  await demandGnuTar();
  const there: string[] = await readdir(home).catch(() => []);
  const left = there.filter((name) => !MAY_BE_THERE.has(name));
  const isCutOff = left.includes(UNDER_WAY) && !left.includes(LAST);
  if (left.length > 0 && !isCutOff) throw new HomeNotEmpty(`${home} has ${left.slice(0, 3).join(', ')} already.`);
  const manifest = await verifyBackup(path);
  if (manifest.home !== home) throw new OtherHome(manifest.home);
  const draft = join(home, UNDER_WAY);
  await rm(draft, { recursive: true, force: true });
  for (const name of left) await rm(join(home, name), { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  await unpack(join(path, ARCHIVE), draft);
  for (const { name } of manifest.files) if (name !== ARCHIVE) await copyFile(join(path, name), join(draft, name));
  const names = (await readdir(draft)).filter((name) => !MAY_BE_THERE.has(name) || !there.includes(name));
  for (const name of [...names.filter((one) => one !== LAST), LAST]) {
    await syncPath(join(draft, name));
    await rename(join(draft, name), join(home, name));
  }
  await syncPath(home);
  await rm(draft, { recursive: true, force: true });
  await syncPath(home);
  return manifest;
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
