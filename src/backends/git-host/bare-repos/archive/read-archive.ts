/** What an archive of somebody's code holds: each entry is checked and handed to the sink; nothing is written anywhere. */
import type { ReadEntry } from 'tar';
import type { PlatformError } from '../../../../domain/errors.ts';
import { readTar, TarError } from '../../../../lib/tar-entries.ts';
import { invalidSource } from '../invalid-source.ts';
import { archivePath, isGitDirectory, refused } from './archive-path.ts';
import { type ArchiveLimits, damaged, inflated } from './inflate.ts';

export interface ArchiveSink {
  /** Exactly `size` bytes are to be taken from `data`. */
  file(path: string, data: AsyncIterable<Buffer>, facts: { size: number; isExecutable: boolean }): Promise<void>;
  link(path: string, target: string): Promise<void>;
  /** A second name of a file that came before; false when there is none. */
  alias(path: string, of: string): boolean;
}

interface ArchiveContent {
  readonly files: number;
  readonly bytes: number;
  readonly notes: readonly string[];
}

const MAX_LINK_BYTES = 4_096;
const FILES: ReadonlySet<string> = new Set(['File', 'OldFile', 'ContiguousFile']);
const DIRECTORIES: ReadonlySet<string> = new Set(['Directory', 'GNUDumpDir']);

/** Throws PlatformError `deploy.invalid_source`, `input.too_large`, the signal's reason, and what the bytes throw. */
export async function readArchive(
  bytes: AsyncIterable<Uint8Array>,
  sink: ArchiveSink,
  limits: ArchiveLimits,
  signal: AbortSignal,
): Promise<ArchiveContent> {
  const content = new Content(sink, limits);
  try {
    if (!(await readTar(inflated(bytes, limits), (entry) => content.take(entry), signal))) throw nothing();
  } catch (error) {
    if (!(error instanceof TarError)) throw error;
    throw error.fault === 'unknown_kind' ? refused(error.path, error.message) : damaged(error.message);
  }
  return content.whole();
}

function nothing(): PlatformError {
  return invalidSource('There is no file in the archive.', 'Pack the files of the app, not an empty directory.');
}

class Content {
  readonly #sink: ArchiveSink;
  readonly #limits: ArchiveLimits;
  readonly #gitDirectories = new Set<string>();
  #entries = 0;
  #files = 0;
  #bytes = 0;

  constructor(sink: ArchiveSink, limits: ArchiveLimits) {
    this.#sink = sink;
    this.#limits = limits;
  }

  async take(entry: ReadEntry): Promise<void> {
    this.#entries += 1;
    this.#bytes += entry.size;
    this.#checkSize();
    const path = archivePath(entry.path);
    if (isGitDirectory(path)) this.#gitDirectories.add(path.replace(/(^|\/)(\.git)(?:\/.*)?$/i, '$1$2'));
    else if (FILES.has(entry.type)) await this.#file(path, entry);
    else if (entry.type === 'SymbolicLink') await this.#link(path, entry.linkpath ?? '');
    else if (entry.type === 'Link') this.#alias(path, entry.linkpath ?? '');
    else if (!DIRECTORIES.has(entry.type)) throw refused(entry.path, 'is neither a file nor a directory nor a link');
    entry.resume();
  }

  #checkSize(): void {
    const { maxEntries, maxBytes } = this.#limits;
    const hint = 'Leave out what is installed or generated (node_modules, build output).';
    if (this.#entries > maxEntries) {
      throw invalidSource(`The archive has more than ${maxEntries} files and directories.`, hint);
    }
    if (this.#bytes > maxBytes) {
      throw invalidSource(`The files in the archive are larger than ${Math.floor(maxBytes / 1024 / 1024)} MiB.`, hint);
    }
  }

  async #file(path: string, entry: ReadEntry): Promise<void> {
    if (path === '') throw refused(entry.path, 'has no name');
    this.#files += 1;
    await this.#sink.file(path, entry, { size: entry.size, isExecutable: ((entry.mode ?? 0) & 0o111) !== 0 });
  }

  async #link(path: string, target: string): Promise<void> {
    if (path === '' || target === '' || target.includes('\0') || Buffer.byteLength(target) > MAX_LINK_BYTES) {
      throw refused(path, 'is a link to nowhere');
    }
    this.#files += 1;
    await this.#sink.link(path, target);
  }

  #alias(path: string, of: string): void {
    if (path === '' || !this.#sink.alias(path, archivePath(of))) {
      throw refused(path, 'is another name of a file that is not in the archive before it');
    }
    this.#files += 1;
  }

  whole(): ArchiveContent {
    if (this.#files === 0) throw nothing();
    const left = [...this.#gitDirectories].slice(0, 5);
    const notes = left.length === 0 ? [] : [`       Left out: ${left.join(', ')}`];
    return { files: this.#files, bytes: this.#bytes, notes };
  }
}
