/**
 * A directory as a tar file that depends on nothing but what is in it: sorted by name, owners and modes as asked, no time of reading. Times of
 * change of files are kept in whole seconds, for programs compare them (Python its bytecode with its source); those of directories mean nothing.
 */
import type { Stats } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { HeaderData } from 'tar';

export interface TarTree {
  /** Nobody changes it meanwhile. */
  readonly directory: string;
  /** Absolute: where it is to lie when it is unpacked. */
  readonly at: string;
  readonly uid: number;
  readonly gid: number;
  /** Everybody may read it; absent: modes are as they are. */
  readonly isPublic?: boolean;
}

const BLOCK = 512;
const CHUNK_BYTES = 256 * 1024;
/** Directories on the way that everybody writes in. */
const SHARED = new Set(['tmp', 'var/tmp', 'dev/shm']);
const NEVER_CHANGED = new Date(0);

/** Set-id bits, sockets, pipes and devices are left out. Throws what the signal says, and what reading throws. */
export async function* treeTar(trees: readonly TarTree[], signal: AbortSignal): AsyncGenerator<Buffer> {
  const encode = await encoder();
  const made = new Set<string>();
  for (const tree of trees) {
    for (const path of waysTo(tree.at)) {
      if (made.has(path)) continue;
      made.add(path);
      const mode = SHARED.has(path) ? 0o1777 : 0o755;
      yield encode({ path: `${path}/`, type: 'Directory', mode, uid: 0, gid: 0, mtime: NEVER_CHANGED, size: 0 });
    }
    yield* entries(tree, tree.directory, tree.at.replace(/^\/+|\/+$/g, ''), encode, signal);
  }
  yield Buffer.alloc(2 * BLOCK);
}

type Encode = (data: HeaderData) => Buffer;

async function* entries(
  tree: TarTree,
  path: string,
  name: string,
  encode: Encode,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  signal.throwIfAborted();
  const facts = await lstat(path);
  const { uid, gid } = tree;
  // That of the top is whoever's who runs it.
  const mode = path === tree.directory ? 0o755 : modeOf(facts, tree);
  if (facts.isDirectory()) {
    yield encode({ path: `${name}/`, type: 'Directory', mode, uid, gid, mtime: NEVER_CHANGED, size: 0 });
    for (const child of (await readdir(path)).sort(byBytes)) {
      yield* entries(tree, join(path, child), `${name}/${child}`, encode, signal);
    }
  } else if (facts.isSymbolicLink()) {
    const linkpath = await readlink(path);
    yield encode({ path: name, type: 'SymbolicLink', linkpath, mode: 0o777, uid, gid, mtime: NEVER_CHANGED, size: 0 });
  } else if (facts.isFile()) {
    const mtime = new Date(Math.floor(facts.mtimeMs / 1000) * 1000);
    yield encode({ path: name, type: 'File', mode, uid, gid, mtime, size: facts.size });
    yield* contents(path, facts.size);
  }
}

/** Exactly so many bytes, and what fills the last block. */
async function* contents(path: string, size: number): AsyncGenerator<Buffer> {
  const file = await open(path, 'r');
  try {
    for (let at = 0; at < size;) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - at));
      const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
      if (bytesRead === 0) throw new Error(`${path} became shorter while it was read`);
      at += bytesRead;
      yield chunk.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
  const rest = size % BLOCK;
  if (rest > 0) yield Buffer.alloc(BLOCK - rest);
}

function modeOf({ mode }: Stats, { isPublic = false }: TarTree): number {
  const own = mode & 0o777;
  const readable = own & 0o500;
  return isPublic ? own | (readable >> 3) | (readable >> 6) : own;
}

/** `/a/b/c` -> `a`, `a/b`. */
function waysTo(at: string): string[] {
  const parts = at.split('/').filter((part) => part !== '');
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** What a header of 512 bytes cannot hold is in a pax header before it. */
async function encoder(): Promise<Encode> {
  const { Header, Pax } = await import('tar');
  return (data) => {
    const header = new Header(data);
    const needsMore = header.encode();
    const block = header.block ?? Buffer.alloc(BLOCK);
    if (!needsMore) return block;
    const { path = '', linkpath, size = 0 } = data;
    const more = new Pax({ path, size, ...(linkpath !== undefined && { linkpath }) });
    return Buffer.concat([more.encode(), block]);
  };
}
