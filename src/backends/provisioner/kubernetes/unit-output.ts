/**
 * What units print, read from the nodes. A cursor is the time stamp of the last line and how many lines of that moment were read, so it is
 * good for every later container and pod of the unit. Nodes forget the output of a pod with it: what is printed last is kept here.
 */
import type { KubernetesClient } from '../../../kubernetes/client.ts';
import { KubernetesError } from '../../../kubernetes/kubernetes-error.ts';
import type { LogLine } from '../../../kubernetes/logs.ts';
import type { Pod } from '../../../kubernetes/objects.ts';
import type { OutputChunk, OutputLine } from '../../../domain/units/provisioner.ts';
import { Waiters } from '../../../lib/waiters.ts';
import { CONTAINER } from './desired.ts';
import { lifeOf } from './pod-state.ts';

const CHUNK_LINES = 500;
/** What is kept of a unit that has ended, until somebody has read it. */
const MAX_LAST_BYTES = 4 * 1024 * 1024;
const START = '0001-01-01T00:00:00.000000000Z';

interface Position {
  readonly at: string;
  /** Lines of that very moment that were read. */
  readonly count: number;
}

/** The lines after a position, of a list or stream that may begin before it. */
export class After {
  #at: string;
  #count: number;
  /** Lines of the moment `#at` that went by in what is read now. */
  #passed = 0;

  constructor(cursor: string | null) {
    const { at, count } = positionOf(cursor);
    this.#at = at;
    this.#count = count;
  }

  get cursor(): string {
    return `${this.#at} ${this.#count}`;
  }

  /** Null: from the beginning. */
  get since(): string | null {
    return this.#at === START ? null : this.#at;
  }

  /** To be called before what is read begins anew. */
  rewind(): void {
    this.#passed = 0;
  }

  /** Null where it was read before. */
  take({ at, text }: LogLine): OutputLine | null {
    const stamp = at === '' ? this.#at : at;
    if (stamp < this.#at) return null;
    if (stamp > this.#at) {
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
  const [at = START, count = '0'] = (cursor ?? '').split(' ');
  return /^\d{4}-/.test(at) && /^\d+$/.test(count) ? { at, count: Number(count) } : { at: START, count: 0 };
}

function milliseconds(stamp: string): string {
  return `${stamp.slice(0, 23)}Z`;
}

interface PodLogOptions {
  readonly since: string | null;
  readonly follow: boolean;
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

function rangeOf({ since }: PodLogOptions): { container: string; since?: string } {
  return { container: CONTAINER, ...(since !== null && { since }) };
}

function hadOther(pod: Pod): boolean {
  const { deaths, isRunning } = lifeOf(pod);
  return deaths > (isRunning ? 0 : 1);
}

/** The output of a unit whose pod goes, or is gone. */
export class LastWords {
  #lines: LogLine[] = [];
  #bytes = 0;
  /** Of lines and of the end: one that comes while a reader is busy wakes nobody. */
  #changes = 0;
  isComplete = false;
  readonly #waiters = new Waiters();

  add(line: LogLine): void {
    this.#changes += 1;
    this.#lines.push(line);
    this.#bytes += line.text.length;
    while (this.#bytes > MAX_LAST_BYTES) this.#bytes -= this.#lines.shift()?.text.length ?? 0;
    this.#waiters.wake();
  }

  complete(): void {
    this.#changes += 1;
    this.isComplete = true;
    this.#waiters.wake();
  }

  /** True when nothing is left that nobody has read. */
  consumed(cursor: string): boolean {
    const after = new After(cursor);
    this.#lines = this.#lines.filter((line) => after.take(line) !== null);
    this.#bytes = this.#lines.reduce((sum, { text }) => sum + text.length, 0);
    return this.#lines.length === 0;
  }

  last(count: number): string[] {
    return this.#lines.slice(-count).map(({ text }) => text);
  }

  async *read(after: After, signal: AbortSignal): AsyncGenerator<OutputChunk> {
    while (!signal.aborted) {
      after.rewind();
      const [isLast, seen] = [this.isComplete, this.#changes];
      for (const chunk of after.chunks([...this.#lines])) yield chunk;
      if (isLast) return;
      if (this.#changes === seen) await this.#waiters.next(signal);
    }
  }
}
