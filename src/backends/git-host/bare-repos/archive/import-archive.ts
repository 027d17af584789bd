/**
 * An archive becomes a commit: its files go straight into git's object store, never into a directory, so nothing in an
 * archive can be written outside of the repository. References to such commits are hidden from pushes and clones.
 */
import type { Writable } from 'node:stream';
import type { ArchiveUpload, ImportedArchive } from '../../../../domain/deploys/git-host.ts';
import { drained } from '../../../../lib/drained.ts';
import { timeOrderedId } from '../../../../lib/ids.ts';
import { endGroup, exitOf, type Git, mustRunGit, runGit, spawnGit } from '../git-command.ts';
import type { ArchiveLimits } from './inflate.ts';
import { type ArchiveSink, readArchive } from './read-archive.ts';

/** Below it lies one reference per upload, named so that they sort by age. */
const UPLOADS = 'refs/tancho/uploads';
const KEPT_UPLOADS = 50;
const MAX_STDERR = 8 * 1024;

interface TreeEntry {
  readonly mode: '100644' | '100755' | '120000';
  readonly mark: number;
}

export async function importArchive(
  git: Git,
  repository: string,
  upload: ArchiveUpload,
  limits: ArchiveLimits,
): Promise<ImportedArchive> {
  const { signal } = upload;
  signal.throwIfAborted();
  const args = [`--git-dir=${repository}`, 'fast-import', '--quiet', '--done', '--date-format=raw'];
  const child = spawnGit(git, args, { env: {}, stdio: ['pipe', 'ignore', 'pipe'] });
  const exited = exitOf(child);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(0, MAX_STDERR)));
  const input = child.stdin as Writable;
  // A git that ended early is judged by its exit code.
  input.on('error', () => {});
  try {
    const importer = new Importer(input);
    const content = await readArchive(upload.bytes, importer, limits, signal);
    const reference = `${UPLOADS}/${timeOrderedId()}`;
    await importer.commit(reference, upload);
    input.end();
    const code = await exited;
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`git fast-import failed with ${code}: ${stderr}`);
    const commit = await mustRunGit(git, [`--git-dir=${repository}`, 'rev-parse', '--verify', reference]);
    await forgetOldUploads(git, repository);
    return { commit: commit.toString().trim(), ...content };
  } finally {
    // Without its last word git gives up and refers to nothing of what it has read.
    endGroup(child);
    await exited.catch(() => {});
  }
}

class Importer implements ArchiveSink {
  readonly #input: Writable;
  readonly #tree = new Map<string, TreeEntry>();
  #marks = 0;

  constructor(input: Writable) {
    this.#input = input;
  }

  async file(
    path: string,
    data: AsyncIterable<Buffer>,
    { size, isExecutable }: { size: number; isExecutable: boolean },
  ): Promise<void> {
    const mark = await this.#begin(size);
    for await (const chunk of data) await this.#write(chunk);
    await this.#write('\n');
    this.#tree.set(path, { mode: isExecutable ? '100755' : '100644', mark });
  }

  async link(path: string, target: string): Promise<void> {
    const text = Buffer.from(target);
    const mark = await this.#begin(text.length);
    await this.#write(text);
    await this.#write('\n');
    this.#tree.set(path, { mode: '120000', mark });
  }

  alias(path: string, of: string): boolean {
    const entry = this.#tree.get(of);
    if (entry === undefined) return false;
    this.#tree.set(path, entry);
    return true;
  }

  async commit(reference: string, { by, message }: ArchiveUpload): Promise<void> {
    const text = Buffer.from(`${message()}\n`);
    const when = Math.floor(Date.now() / 1000);
    await this.#write(`commit ${reference}\ncommitter ${by} <${by}> ${when} +0000\ndata ${text.length}\n`);
    await this.#write(text);
    await this.#write('deleteall\n');
    for (const [path, { mode, mark }] of this.#tree) await this.#write(`M ${mode} :${mark} ${quoted(path)}\n`);
    await this.#write('done\n');
  }

  async #begin(size: number): Promise<number> {
    this.#marks += 1;
    await this.#write(`blob\nmark :${this.#marks}\ndata ${size}\n`);
    return this.#marks;
  }

  async #write(piece: string | Buffer): Promise<void> {
    if (this.#input.destroyed) throw new Error('git fast-import has ended early');
    if (this.#input.write(piece)) return;
    await drained(this.#input);
  }
}

/** As git reads a path in quotes: C's escapes. */
function quoted(path: string): string {
  const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '"': '\\"', '\\': '\\\\' };
  return `"${path.replace(/[\n"\\]/g, (character) => escapes[character] ?? character)}"`;
}

/** They are needed for the difference to the deploy before; what serves and what can be gone back to is built already. */
async function forgetOldUploads(git: Git, repository: string): Promise<void> {
  const args = [`--git-dir=${repository}`, 'for-each-ref', '--sort=-refname', '--format=%(refname)', UPLOADS];
  const names = (await mustRunGit(git, args)).toString().split('\n').filter(Boolean);
  const old = names.slice(KEPT_UPLOADS);
  if (old.length === 0) return;
  const input = old.map((name) => `delete ${name}\n`).join('');
  await runGit(git, [`--git-dir=${repository}`, 'update-ref', '--stdin'], { input });
}
