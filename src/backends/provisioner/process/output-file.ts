/**
 * A unit's output: one append-only file that the unit writes by itself, so that neither the death nor the slowness of the
 * platform stops it. Offsets stay valid for ever; what is stored elsewhere is given back to the disk by punching holes.
 */
import { fstatSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { OutputChunk, OutputFile } from '../../../domain/units/provisioner.ts';
import { runTool } from '../../../lib/tools/run-tool.ts';
import { type LinePart, LineSplitter } from './line-splitter.ts';

const READ_BYTES = 64 * 1024;
const TAIL_BYTES = 256 * 1024;
const QUIET_MS = 1_000;
/** Safety net for changes the kernel does not announce: seldom, until it is seen that it does not. */
const WATCHED_POLL_MS = 10_000;
const DOUBTED_POLL_MS = 500;
const UNWATCHED_POLL_MS = 20;
/** So many changes in a row that nobody announced are no chance. */
const DOUBTED_AFTER = 2;
const BLOCK_BYTES = 4_096;
/** Of the blocks that stat() counts. */
const STAT_BLOCK_BYTES = 512;
const MIN_HOLE_BYTES = 1024 * 1024;
/** Of what waits to be read: far more than is kept of any log. A unit can make its file as long as it likes without writing. */
const MAX_BEHIND_BYTES = 256 * 1024 * 1024;
const KEPT_BEHIND_BYTES = 16 * 1024 * 1024;
/** Some file systems take lengths that no program here can count with: what is behind it is never read. */
const MAX_SIZE_BYTES = Number.MAX_SAFE_INTEGER - 1024 ** 2;
/** Of what is given up, because it cannot be stored. */
const LEFT_BYTES = 1024 * 1024;
const NEWLINE = 10;
/** How much of what is missing is counted, and how much of that at a time. */
const MAX_COUNTED_BYTES = 4 * 1024 ** 3;
const COUNTED_BYTES = 1024 * 1024;

interface TailOptions extends OutputFile {
  readonly signal: AbortSignal;
}

/** `offset` is where the next read begins. */
interface ReadOutput extends Omit<OutputChunk, 'cursor'> {
  readonly offset: number;
}

/** Follows the file from a byte offset until it is complete or the signal fires. Missing file: ends at once. */
export async function* tailOutput(options: TailOptions): AsyncGenerator<ReadOutput> {
  const { path, signal } = options;
  const file = await openIfThere(path);
  if (file === null) return;
  const changes = new Changes(path, signal);
  let isGone = false;
  void options.gone.then(() => {
    isGone = true;
    changes.notice();
  });
  try {
    let position = options.from;
    let lastData = Date.now();
    let splitter = new LineSplitter(await endsInsideLine(file, position));
    const chunk = (parts: readonly LinePart[]): ReadOutput => {
      const at = new Date().toISOString();
      return { lines: parts.map((part) => ({ at, ...part })), offset: position - splitter.pending };
    };
    if (options.missing !== undefined) yield { ...chunk([]), missing: options.missing };
    for (;;) {
      if (signal.aborted) return;
      const wasGone = isGone;
      const size = lengthOf(fstatSync(file.fd));
      const left = size - KEPT_BEHIND_BYTES;
      if (left - position > MAX_BEHIND_BYTES) {
        const from = position - splitter.pending;
        position = await lineStart(file, left);
        splitter = new LineSplitter(await endsInsideLine(file, position));
        const missing = {
          lines: await linesBetween(file, from, position),
          bytes: position - from,
          why: 'too much' as const,
        };
        yield { ...chunk([]), missing };
      }
      if (size > position) {
        // No more than there is: of hundreds who print little each would else keep a buffer.
        const bytes = await readAt(file, position, Math.min(READ_BYTES, size - position));
        position += bytes.length;
        lastData = Date.now();
        changes.found();
        const lines = splitter.push(bytes);
        if (lines.length > 0) yield chunk(lines);
        continue;
      }
      if (size < position) {
        // The app itself emptied the file (`> /dev/stdout`).
        position = 0;
        splitter = new LineSplitter();
        continue;
      }
      const quietFor = Date.now() - lastData;
      if (wasGone || quietFor >= QUIET_MS) {
        const rest = splitter.flush();
        if (rest.length > 0) yield chunk(rest);
        if (wasGone) return;
      }
      const hasMore = (): boolean => lengthOf(fstatSync(file.fd)) !== position;
      await changes.wait(splitter.pending > 0 ? Math.max(QUIET_MS - quietFor, 1) : Infinity, hasMore);
    }
  } finally {
    changes.close();
    await file.close();
  }
}

/** Reports changes of one file, and remembers one that came while nobody waited. */
class Changes {
  #watcher: FSWatcher | null = null;
  #seen = false;
  #isUnannounced = false;
  #unannounced = 0;
  #wake: (() => void) | null = null;
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => this.notice();

  constructor(path: string, signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort);
    try {
      this.#watcher = watch(path, { persistent: false }, () => this.notice());
      this.#watcher.on('error', () => this.#unwatch());
    } catch {
      this.#watcher = null;
    }
  }

  notice(): void {
    this.#seen = true;
    this.#wake?.();
  }

  /** `hasMore` is asked now and then, without a change being reported: it costs little, for most units print nothing most of the time. */
  async wait(atMostMs: number, hasMore: () => boolean): Promise<void> {
    const until = Date.now() + atMostMs;
    while (!this.#seen) {
      const limit = Math.min(until - Date.now(), this.#pollMs);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, limit);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = null;
      if (Date.now() >= until || hasMore()) break;
    }
    this.#isUnannounced = !this.#seen;
    this.#seen = false;
  }

  /** There was something to read. */
  found(): void {
    if (this.#isUnannounced) this.#unannounced += 1;
    else if (this.#unannounced < DOUBTED_AFTER) this.#unannounced = 0;
    this.#isUnannounced = false;
  }

  get #pollMs(): number {
    if (this.#watcher === null) return UNWATCHED_POLL_MS;
    return this.#unannounced >= DOUBTED_AFTER ? DOUBTED_POLL_MS : WATCHED_POLL_MS;
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#unwatch();
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

async function endsInsideLine(file: FileHandle, position: number): Promise<boolean> {
  if (position === 0) return false;
  const before = await readAt(file, position - 1, 1);
  return before.length === 1 && before[0] !== NEWLINE;
}

/** The beginning of a line from there on, unless one is very long. */
async function lineStart(file: FileHandle, position: number): Promise<number> {
  return position + (await readAt(file, position, READ_BYTES)).indexOf(NEWLINE) + 1;
}

/** Null where that would take too long. */
async function linesBetween(file: FileHandle, from: number, upTo: number): Promise<number | null> {
  if (upTo - from > MAX_COUNTED_BYTES) return null;
  let lines = 0;
  for (let position = from; position < upTo;) {
    const bytes = await readAt(file, position, Math.min(COUNTED_BYTES, upTo - position));
    if (bytes.length === 0) break;
    position += bytes.length;
    // Neither by indexOf() nor by an iterator: of what is nothing but ends of lines these take ten to thirty times as long.
    for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === NEWLINE) lines += 1;
  }
  return lines;
}

/** What of the output after the offset can be given up, so that about a megabyte is left; null when there is not much more. */
export async function planGivingUp(path: string, from: number): Promise<{ upTo: number; lines: number } | null> {
  const file = await openIfThere(path);
  if (file === null) return null;
  try {
    const size = lengthOf(await file.stat());
    if (size - from < 2 * LEFT_BYTES) return null;
    const upTo = await lineStart(file, size - LEFT_BYTES);
    return { upTo, lines: (await linesBetween(file, from, upTo)) ?? 0 };
  } finally {
    await file.close();
  }
}

/** Missing file: empty. `freed`: everything before it may be a hole. */
export async function lastLinesOf(path: string, count: number, freed: number): Promise<string[]> {
  const file = await openIfThere(path);
  if (file === null) return [];
  try {
    const size = lengthOf(await file.stat());
    const from = Math.max(size - TAIL_BYTES, freed, 0);
    const splitter = new LineSplitter(await endsInsideLine(file, from));
    const lines = splitter.push(await readAt(file, from, Math.max(size - from, 0)));
    return [...lines, ...splitter.flush()].slice(-count).map(({ text }) => text);
  } finally {
    await file.close();
  }
}

/** What a file has, as far as it can be read. */
function lengthOf({ size }: { readonly size: number }): number {
  return Math.min(size, MAX_SIZE_BYTES);
}

export async function sizeOf(path: string): Promise<number> {
  return (await sizesOf(path)).size;
}

/** Bytes up to its end, and those that it takes on the disk. Missing file: none. */
export async function sizesOf(path: string): Promise<{ readonly size: number; readonly taken: number }> {
  try {
    const { size, blocks } = await stat(path);
    return { size: lengthOf({ size }), taken: blocks * STAT_BLOCK_BYTES };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { size: 0, taken: 0 };
    throw error;
  }
}

/**
 * Pure: the whole blocks that may be freed, sparing the last lines that error reports quote; null when it is not yet worth it.
 */
export function planHole(freed: number, consumed: number, size: number): { offset: number; length: number } | null {
  const offset = Math.ceil(freed / BLOCK_BYTES) * BLOCK_BYTES;
  const end = Math.floor(Math.min(consumed, size - TAIL_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;
  return end - offset >= MIN_HOLE_BYTES ? { offset, length: end - offset } : null;
}

interface Range {
  readonly offset: number;
  readonly length: number;
}

/** Throws where the file system or the machine cannot do it. */
export async function punchHole(path: string, hole: Range): Promise<void> {
  await allocate(path, hole, '--punch-hole');
}

/** Room behind the end of the file, that nobody else can take. Throws where there is none, and as punchHole. */
export async function holdRoom(path: string, room: Range): Promise<void> {
  await allocate(path, room);
}

async function allocate(path: string, { offset, length }: Range, ...how: string[]): Promise<void> {
  const range = ['--offset', `${offset}`, '--length', `${length}`];
  await runTool(['fallocate', ...how, '--keep-size', ...range, '--', path], '', 30_000);
}
