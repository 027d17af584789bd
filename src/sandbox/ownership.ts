/** Hands a directory tree to a tenant, or lets it in. */
import { isUtf8 } from 'node:buffer';
import { execFile } from 'node:child_process';
import { chmodSync, lchownSync, lstatSync, opendirSync } from 'node:fs';
import { chmod, chown, lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const BATCH = 500;
/** Changed by this process itself, which takes some milliseconds. */
const FEW = 500;
/** Read of a directory at a time: whoever made it may have put hundreds of thousands into one. */
const AT_ONCE = 128;
/** Names one character per byte: who made them may have used another encoding. */
const BYTES = 'latin1';

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
    const directory = opendirSync(next, { encoding: BYTES, bufferSize: AT_ONCE });
    try {
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
        const child = below(next, Buffer.from(entry.name, BYTES));
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
  for await (const { name } of await opendir(path, { encoding: BYTES, bufferSize: AT_ONCE })) {
    names.push(Buffer.from(name, BYTES));
  }
  return names;
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
