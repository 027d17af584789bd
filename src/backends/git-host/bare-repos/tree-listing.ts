/** Reads what a commit holds before anything of it is written to disk. */
import type { Submodule } from '../../../domain/deploys/builder.ts';
import type { PlatformError } from '../../../domain/errors.ts';
import { endGroup, exitOf, type Git, spawnGit } from './git-command.ts';
import { invalidSource } from './invalid-source.ts';

export interface TreeLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

interface TreeListing {
  /** Path -> blob id; paths keep their bytes (latin1), because git does not know encodings. */
  readonly links: ReadonlyMap<string, string>;
  readonly submodules: readonly Submodule[];
  /** Regular files that are as small as pointers of Git LFS are, the first of them. */
  readonly small: readonly string[];
  /** Files of attributes that are no larger than anybody writes them, the first of them. */
  readonly attributes: readonly string[];
}

const MAX_PATH = 4_000;
const MAX_DEPTH = 200;
const MAX_SMALL = 5_000;
const MAX_ATTRIBUTES = 100;
const MAX_ATTRIBUTES_BYTES = 256 * 1024;
/** Its lines have fixed lengths but for the last, the size, and what extensions add. */
const POINTER_BYTES = { min: 120, max: 1_024 };
const MAX_LINK_BYTES = 4_096;
const ENTRY = /^(\d{6}) (\w+) ([0-9a-f]+) +(\d+|-)\t([^]+)$/;

const REGULAR = new Set(['100644', '100755', '100664']);

/** One entry at a time, so that a tree that unfolds to more than the limits is given up early. */
class Listing implements TreeListing {
  readonly links = new Map<string, string>();
  readonly submodules: Submodule[] = [];
  readonly small: string[] = [];
  readonly attributes: string[] = [];
  #entries = 0;
  #bytes = 0;
  readonly #limits: TreeLimits;

  constructor(limits: TreeLimits) {
    this.#limits = limits;
  }

  add(line: string): void {
    const entry = ENTRY.exec(line);
    if (entry === null) throw new Error('git ls-tree answered something unknown');
    const [, mode = '', , id = '', size = '', path = ''] = entry;
    this.#entries += 1;
    this.#bytes += size === '-' ? 0 : Number(size);
    if (this.#entries > this.#limits.maxEntries) {
      throw invalidSource(
        `The commit has more than ${this.#limits.maxEntries} files and directories.`,
        'Leave out what is installed or generated (node_modules, build output), for example with .gitignore.',
      );
    }
    if (this.#bytes > this.#limits.maxBytes) {
      throw invalidSource(
        `The files of the commit are larger than ${Math.floor(this.#limits.maxBytes / 1024 / 1024)} MiB.`,
        'Keep large files out of the repository; an app can fetch them when it is built.',
      );
    }
    checkPath(path);
    if (mode === '120000') {
      if (Number(size) > MAX_LINK_BYTES) throw refused(path, 'is a link with an endless target');
      this.links.set(path, id);
    } else if (mode === '160000') this.submodules.push({ path: Buffer.from(path, 'latin1').toString(), commit: id });
    else if (REGULAR.has(mode)) this.#addFile(path, Number(size));
    else if (mode !== '040000') throw refused(path, 'is neither a file nor a directory nor a link');
  }

  #addFile(path: string, size: number): void {
    if (/(?:^|\/)\.gitattributes$/.test(path)) {
      if (this.attributes.length < MAX_ATTRIBUTES && size <= MAX_ATTRIBUTES_BYTES) this.attributes.push(path);
    } else if (size >= POINTER_BYTES.min && size < POINTER_BYTES.max && this.small.length < MAX_SMALL)
      this.small.push(path);
  }
}

function refused(path: string, what: string): PlatformError {
  return invalidSource(
    `${JSON.stringify(path.slice(0, 200))} ${what}.`,
    'Remove it from the repository and push again.',
  );
}

function checkPath(path: string): void {
  const parts = path.split('/');
  if (path.length > MAX_PATH || parts.length > MAX_DEPTH) throw refused(path, 'lies too deep');
  for (const part of parts) {
    if (part === '' || part === '.' || part === '..') throw refused(path, 'leaves the tree');
    if (part.toLowerCase() === '.git') throw refused(path, 'would be a repository inside the app');
  }
}

/** Throws `deploy.invalid_source` for what must not be laid out, and when the commit is unknown. */
export async function listTree(
  git: Git,
  request: { repository: string; commit: string; env: Readonly<Record<string, string>>; limits: TreeLimits },
  signal: AbortSignal,
): Promise<TreeListing> {
  const args = [`--git-dir=${request.repository}`, 'ls-tree', '-r', '-t', '-l', '-z', '--full-tree', request.commit];
  const child = spawnGit(git, args, { env: request.env, stdio: ['ignore', 'pipe', 'ignore'] });
  const exited = exitOf(child);
  const end = (): void => endGroup(child);
  signal.addEventListener('abort', end, { once: true });
  try {
    const listing = new Listing(request.limits);
    let rest = '';
    for await (const chunk of child.stdout?.setEncoding('latin1') ?? []) {
      const lines = (rest + String(chunk)).split('\0');
      rest = lines.pop() ?? '';
      for (const line of lines) listing.add(line);
    }
    const code = await exited;
    signal.throwIfAborted();
    if (code !== 0) throw unknownCommit(request.commit);
    return listing;
  } finally {
    signal.removeEventListener('abort', end);
    end();
    await exited.catch(() => {});
  }
}

export function unknownCommit(commit: string): PlatformError {
  return invalidSource(`The commit ${commit.slice(0, 12)} is not in the repository.`, 'Push it first.');
}
