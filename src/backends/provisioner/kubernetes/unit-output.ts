/**
 * What units print, read from the nodes. A cursor is the time stamp of the last line, how many lines of that moment were read, and the pod
 * that printed them: a later one is read from its beginning, for its node has a clock of its own. Nodes forget the output of a pod with it:
 * what is printed last is kept here.
 */
import type { KubernetesClient } from '../../../kubernetes/client.ts';
import { KubernetesError } from '../../../kubernetes/kubernetes-error.ts';
import type { LogLine, LogOptions } from '../../../kubernetes/logs.ts';
import type { Pod } from '../../../kubernetes/objects.ts';
import type { OutputChunk, OutputLine } from '../../../domain/units/provisioner.ts';
import { Waiters } from '../../../lib/waiters.ts';
import { CONTAINER } from './desired.ts';
import { lifeOf } from './pod-state.ts';

const CHUNK_LINES = 500;
/** What is kept of a unit that has ended, until somebody has read it. */
const MAX_LAST_BYTES = 4 * 1024 * 1024;
/** What a line takes in memory beside its text. */
const LINE_BYTES = 128;
/** A clock that goes back by more was set back. */
const SET_BACK_MS = 1_000;
const START = '0001-01-01T00:00:00.000000000Z';

interface Position {
  readonly at: string;
  /** Lines of that very moment that were read. */
  readonly count: number;
  /** By uid; '': not known. */
  readonly pod: string;
}

/** The lines after a position, of a list or stream that may begin before it. */
export class After {
  #at: string;
  #count: number;
  /** Lines of the moment `#at` that went by in what is read now. */
  #passed = 0;
  /** Of the line before in what is read now. */
  #before = START;
  #pod: string;

  constructor(cursor: string | null) {
    const { at, count, pod } = positionOf(cursor);
    this.#at = at;
    this.#count = count;
    this.#pod = pod;
  }

  get cursor(): string {
    return `${this.#at} ${this.#count}${this.#pod === '' ? '' : ` ${this.#pod}`}`;
  }

  /** Null: from the beginning, also where the clock was set back since. */
  get since(): string | null {
    return this.#at === START || isLater(this.#at, new Date().toISOString()) ? null : this.#at;
  }

  /** To be called before lines of a pod are taken. */
  enter(pod: string): void {
    if (this.#pod !== '' && this.#pod !== pod) [this.#at, this.#count] = [START, 0];
    this.#pod = pod;
    this.rewind();
  }

  /** To be called before what is read begins anew. */
  rewind(): void {
    this.#passed = 0;
    this.#before = START;
  }

  /** Null where it was read before. */
  take({ at, text }: LogLine): OutputLine | null {
    const stamp = at === '' ? this.#at : at;
    const isSetBack = isLater(this.#before, stamp);
    this.#before = stamp;
    if (stamp < this.#at && !isSetBack) return null;
    if (stamp !== this.#at) {
      [this.#at, this.#count, this.#passed] = [stamp, 1, 1];
      return { at: milliseconds(stamp), text };
    }
    this.#passed += 1;
    if (this.#passed <= this.#count) return null;
    this.#count = this.#passed;
    return { at: milliseconds(stamp), text };
  }

  /** Those that were not read before, in pieces that can be stored at once. */
  *chunks(lines: readonly LogLine[]): Generator<OutputChunk> {
    let fresh: OutputLine[] = [];
    for (const line of lines) {
      const one = this.take(line);
      if (one !== null) fresh.push(one);
      if (fresh.length < CHUNK_LINES) continue;
      yield { lines: fresh, cursor: this.cursor };
      fresh = [];
    }
    if (fresh.length > 0) yield { lines: fresh, cursor: this.cursor };
  }
}

function positionOf(cursor: string | null): Position {
  const [at = START, count = '0', pod = ''] = (cursor ?? '').split(' ');
  return /^\d{4}-/.test(at) && /^\d+$/.test(count)
    ? { at, count: Number(count), pod }
    : { at: START, count: 0, pod: '' };
}

/** By more than what clocks differ by anyway. */
function isLater(stamp: string, than: string): boolean {
  return stamp > than && Date.parse(milliseconds(stamp)) - Date.parse(milliseconds(than)) > SET_BACK_MS;
}

function milliseconds(stamp: string): string {
  return `${stamp.slice(0, 23)}Z`;
}

interface PodLogOptions {
  readonly since: string | null;
  readonly follow: boolean;
  /** See LogOptions. */
  readonly isOneOfMany?: boolean;
  readonly signal: AbortSignal;
  /** Called before each part: one may begin with what the one before had. */
  readonly onPart?: () => void;
}

/** All that a pod has printed since about then, of the container before, too, where there was one. Goes on while it runs, if it is to. */
export function podLog(client: KubernetesClient, pod: Pod, options: PodLogOptions): AsyncIterable<readonly LogLine[]> {
  return hadOther(pod) ? previousAndLast(client, pod, options) : lastLog(client, pod, options);
}

async function* previousAndLast(
  client: KubernetesClient,
  pod: Pod,
  options: PodLogOptions,
): AsyncGenerator<readonly LogLine[]> {
  options.onPart?.();
  try {
    yield* client.log(pod.metadata, { ...rangeOf(options), isPrevious: true }, options.signal);
  } catch (error) {
    // The node has forgotten it.
    if (!(error instanceof KubernetesError) || error.status === 0) throw error;
  }
  yield* lastLog(client, pod, options);
}

/** No generator: of thousands that are followed each would keep one. */
function lastLog(client: KubernetesClient, pod: Pod, options: PodLogOptions): AsyncIterable<readonly LogLine[]> {
  const { follow, signal, onPart } = options;
  onPart?.();
  return client.log(pod.metadata, { ...rangeOf(options), follow }, signal);
}

function rangeOf({ since, isOneOfMany = false }: PodLogOptions): LogOptions {
  return { container: CONTAINER, isOneOfMany, ...(since !== null && { since }) };
}

function hadOther(pod: Pod): boolean {
  const { deaths, isRunning } = lifeOf(pod);
  return deaths > (isRunning ? 0 : 1);
}

/** The output of a unit whose pod goes, or is gone. */
export class LastWords {
  readonly #pod: string;
  #lines: LogLine[] = [];
  #bytes = 0;
  #newest = START;
  /** Of lines and of the end: one that comes while a reader is busy wakes nobody. */
  #changes = 0;
  isComplete = false;
  readonly #waiters = new Waiters();

  /** By uid. */
  constructor(pod: string) {
    this.#pod = pod;
  }

  /** In memory, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Read again and again, so their times never go back, whatever the clock does. */
  add(given: LogLine): void {
    const isBehind = given.at !== '' && given.at < this.#newest;
    const line = isBehind ? { at: this.#newest, text: given.text } : given;
    if (line.at !== '') this.#newest = line.at;
    this.#changes += 1;
    this.#lines.push(line);
    this.#bytes += sizeOf(line);
    if (this.#bytes > MAX_LAST_BYTES) this.#dropOldest();
    this.#waiters.wake();
  }

  /** Many at once: each time takes a look at all that stay. */
  #dropOldest(): void {
    let from = 0;
    while (this.#bytes > MAX_LAST_BYTES * 0.75) this.#bytes -= sizeOf(this.#lines[from++]);
    this.#lines = this.#lines.slice(from);
  }

  /** Nobody gets to read what is there. */
  giveUp(): void {
    [this.#lines, this.#bytes] = [[], 0];
  }

  complete(): void {
    this.#changes += 1;
    this.isComplete = true;
    this.#waiters.wake();
  }

  consumed(cursor: string): void {
    const after = new After(cursor);
    after.enter(this.#pod);
    this.#lines = this.#lines.filter((line) => after.take(line) !== null);
    this.#bytes = this.#lines.reduce((sum, line) => sum + sizeOf(line), 0);
  }

  /** Nothing is left that nobody has read, and nothing comes. */
  get isRead(): boolean {
    return this.isComplete && this.#lines.length === 0;
  }

  last(count: number): string[] {
    return this.#lines.slice(-count).map(({ text }) => text);
  }

  async *read(after: After, signal: AbortSignal): AsyncGenerator<OutputChunk> {
    while (!signal.aborted) {
      after.enter(this.#pod);
      const [isLast, seen] = [this.isComplete, this.#changes];
      for (const chunk of after.chunks([...this.#lines])) yield chunk;
      if (isLast) return;
      if (this.#changes === seen) await this.#waiters.next(signal);
    }
  }
}

function sizeOf(line: LogLine | undefined): number {
  return line === undefined ? 0 : line.text.length + LINE_BYTES;
}
