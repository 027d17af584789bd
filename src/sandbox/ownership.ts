/** Hands a directory tree to a tenant, or lets it in. */
import { isUtf8 } from 'node:buffer';
import { execFile } from 'node:child_process';
import { chmodSync, type Dirent, lchownSync, lstatSync, opendirSync } from 'node:fs';
import { chmod, chown, lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const BATCH = 500;
/** Changed by this process itself, which takes some milliseconds. */
const FEW = 500;
/**
 * Some entries at a time: whoever made the directory may have put hundreds of thousands into it. Names as bytes, which may be of any encoding;
 * like the path, as Node joins the two where the file system does not say of what kind an entry is. Its types do not know this encoding.
 */
const READ = { encoding: 'buffer' as unknown as BufferEncoding, bufferSize: 128 };

/**
 * Everything below `path` becomes the uid's, readable by its owner only. The top changes last, so its owner says whether
 * the whole tree was handed over. Such a tree is not gone through again, whatever its owner has done to it since: it may hold
 * hard links to files that must stay the platform's.
 */
export async function handOver(path: string, uid: number): Promise<void> {
  const top = await lstat(path);
  const mode = top.isDirectory() ? 0o700 : 0o600;
  if (top.uid === uid) {
    if ((top.mode & 0o077) !== 0) await chmod(path, mode);
    return;
  }
  if (top.isDirectory()) {
    await chown(path, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
    await chmod(path, mode);
    // Processes of the owner before may still have it open.
    const few = top.uid === process.getuid?.() ? fewBelow(path) : null;
    if (few === null) await handOverMany(path, uid);
    else for (const entry of few) handOverOne(entry, uid);
  }
  await chmod(path, mode);
  await chown(path, uid, uid);
}

/** Everything below; null where that is much: programs do it beside us then, which take longer to start than a few entries take here. */
function fewBelow(path: string): Buffer[] | null {
  const found: Buffer[] = [];
  const open: Buffer[] = [Buffer.from(path)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const directory = opendirSync(next, READ);
    try {
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
        const child = below(next, nameOf(entry));
        found.push(child);
        if (found.length > FEW) return null;
        if (entry.isDirectory()) open.push(child);
      }
    } finally {
      directory.closeSync();
    }
  }
  return found;
}

async function handOverMany(path: string, uid: number): Promise<void> {
  const { entries, odd } = await inside(path);
  const batches: string[][] = [];
  for (let first = 0; first < entries.length; first += BATCH) batches.push(entries.slice(first, first + BATCH));
  // Modes first: once the files are the tenant's, a link may stand in the place of each.
  for (const batch of batches) {
    const kept = await withoutLinks(batch);
    if (kept.length > 0) await run('chmod', ['-R', 'u+rwX,go-rwx', '--', ...kept]);
  }
  for (const batch of batches) await run('chown', ['-R', '-h', '-P', '--', `${uid}:${uid}`, ...batch]);
  for (const entry of odd) await handOverBytes(entry, uid);
}

/** `odd`: what no argument of a program can name, because it is no UTF-8, as names made in another encoding are. */
async function inside(directory: string): Promise<{ entries: string[]; odd: Buffer[] }> {
  const entries: string[] = [];
  const odd: Buffer[] = [];
  for (const name of await namesIn(Buffer.from(directory))) {
    if (isUtf8(name)) entries.push(join(directory, name.toString()));
    else odd.push(below(Buffer.from(directory), name));
  }
  return { entries, odd };
}

async function namesIn(path: Buffer): Promise<Buffer[]> {
  const names: Buffer[] = [];
  for await (const entry of await opendir(path, READ)) names.push(nameOf(entry));
  return names;
}

/** Of an entry that was read with READ. */
function nameOf(entry: Dirent): Buffer {
  return entry.name as unknown as Buffer;
}

/** By path names, which is safe as long as the top of the tree lets nobody in. */
async function handOverBytes(path: Buffer, uid: number): Promise<void> {
  const stats = await lstat(path);
  if (stats.isDirectory()) {
    for (const name of await namesIn(path)) await handOverBytes(below(path, name), uid);
  }
  handOverOne(path, uid);
}

/** As handOverBytes(), of one entry. */
function handOverOne(path: Buffer, uid: number): void {
  const stats = lstatSync(path);
  const isProgram = stats.isDirectory() || (stats.mode & 0o111) !== 0;
  if (!stats.isSymbolicLink()) chmodSync(path, isProgram ? 0o700 : 0o600);
  lchownSync(path, uid, uid);
}

function below(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, Buffer.from('/'), name]);
}

/** A tenant's uid and gid are one number, so the group of a directory can be a single tenant. */
export async function admit(path: string, gid: number): Promise<void> {
  await chown(path, process.getuid?.() ?? 0, gid);
  await chmod(path, 0o750);
}

/** chmod follows a link named on its command line, wherever it points. */
async function withoutLinks(paths: readonly string[]): Promise<string[]> {
  const kept: string[] = [];
  for (const path of paths) if (!(await lstat(path)).isSymbolicLink()) kept.push(path);
  return kept;
}
