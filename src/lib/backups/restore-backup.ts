/** Puts a backup into a home that has nothing yet. The key comes last, so that a restore that was cut off is seen, and done anew. */
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import type { ReadEntry } from 'tar';
import { syncPath } from '../sync-path.ts';
import { ARCHIVE, BackupDamaged, type BackupManifest, verifyBackup } from './manifest.ts';

/** There while a restore is under way, and after one that was cut off. */
const UNDER_WAY = '.restoring';
/** Without it there is nothing to read what is stored with, so it is what makes a restore a whole one. */
const LAST = 'secret.key';
/** What a home may have before: the settings of this machine, which stay, and what says who works in it. */
const MAY_BE_THERE: ReadonlySet<string> = new Set(['config.yaml', 'run']);

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

/** Throws HomeNotEmpty, OtherHome and BackupDamaged, before anything is in its place. */
export async function restoreBackup(home: string, path: string): Promise<BackupManifest> {
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

/** Links come last: until then there are none that anything could be written through, wherever they lead. */
async function unpack(file: string, into: string): Promise<void> {
  const { Unpack } = await import('tar');
  const links = new Map<string, string>();
  const unpacker = new Unpack({
    cwd: into,
    strict: true,
    chmod: true,
    dmode: 0o711,
    preserveOwner: process.getuid?.() === 0,
    // Names are judged by demandBelow(): tar takes names with a backslash, and links to elsewhere, for attempts to leave the directory.
    preservePaths: true,
    filter(path, entry) {
      const { type, linkpath = '' } = entry as ReadEntry;
      demandBelow(path);
      if (type === 'Link') demandBelow(linkpath);
      if (type === 'SymbolicLink') links.set(path, linkpath);
      return type !== 'SymbolicLink';
    },
  });
  await pipeline(createReadStream(file), createZstdDecompress(), async (pieces: AsyncIterable<Buffer>) => {
    const done = new Promise<void>((resolve, reject) => {
      unpacker.once('close', () => resolve());
      unpacker.on('error', reject);
    });
    done.catch(() => undefined);
    for await (const piece of pieces) {
      if (!unpacker.write(piece))
        await Promise.race([done, new Promise((resolve) => unpacker.once('drain', () => resolve(null)))]);
    }
    unpacker.end();
    await done;
  });
  for (const [path, target] of links) await symlink(target, join(into, path));
}

function demandBelow(path: string): void {
  if (!isAbsolute(path) && !path.split('/').includes('..')) return;
  throw new BackupDamaged(`${ARCHIVE} has a file outside of the home: ${JSON.stringify(path.slice(0, 200))}.`);
}
