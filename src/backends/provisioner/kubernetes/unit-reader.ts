/** Reads what units print, whichever pod or container has them at the time. */
import type { KubernetesClient } from '../../../kubernetes/client.ts';
import { KubernetesError } from '../../../kubernetes/kubernetes-error.ts';
import type { Pod } from '../../../kubernetes/objects.ts';
import type { OutputChunk } from '../../../domain/units/provisioner.ts';
import { deadline } from '../../../lib/deadline.ts';
import { CONTAINER } from './desired.ts';
import { lookMs, refusalsAfter } from './log-looks.ts';
import { isUnreachable, lifeOf } from './pod-state.ts';
import { After, LastWords, podLog } from './unit-output.ts';
import type { UnitPods } from './unit-pods.ts';

/** Units whose last output waits to be read. */
const MAX_KEPT = 200;
/** In memory, of all of them together. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;
const LAST_WORDS_MS = 120_000;

export class UnitReader {
  readonly #client: KubernetesClient;
  readonly #pods: UnitPods;
  readonly #words = new Map<string, LastWords>();
  /** Up to where the output of units that are there is stored elsewhere. */
  readonly #consumed = new Map<string, string>();
  readonly #closed = new AbortController();

  constructor(client: KubernetesClient, pods: UnitPods) {
    this.#client = client;
    this.#pods = pods;
  }

  /** One generator for all of it: thousands wait here for what their units print next. */
  async *read(id: string, after: string | null, signal: AbortSignal): AsyncGenerator<OutputChunk> {
    const position = new After(after);
    if (after !== null) this.#note(id, after);
    let refusals = 0;
    while (!signal.aborted) {
      const words = this.#words.get(id);
      if (words !== undefined) {
        yield* words.read(position, signal);
        if (this.#hasEnded(id) || signal.aborted) return;
        // It has been started again.
        this.#words.delete(id);
      }
      const pod = this.#pods.podOf(id);
      if (this.#pods.viewOf(id) === null || (pod === null && this.#hasEnded(id))) return;
      if (pod !== null && hasBegun(pod)) {
        position.enter(pod.metadata.uid ?? '');
        const begun = position.cursor;
        try {
          for await (const lines of podLog(this.#client, pod, {
            ...{ since: position.since, follow: true, isOneOfMany: true, signal },
            onPart: () => position.rewind(),
          }))
            for (const chunk of position.chunks(lines)) yield chunk;
          refusals = 0;
        } catch (error) {
          if (!(error instanceof KubernetesError)) throw error;
          refusals = refusalsAfter(error, position.cursor === begun ? refusals : 0);
        }
      }
      // What has happened meanwhile is looked at without a pause.
      if (this.#pods.podOf(id) !== pod || this.#words.has(id)) continue;
      const pause = deadline(lookMs(refusals), signal);
      await this.#pods.changed(id, pause.signal);
      pause.clear();
    }
  }

  consumed(id: string, cursor: string): void {
    this.#note(id, cursor);
    this.#words.get(id)?.consumed(cursor);
    this.#dropRead(id);
  }

  /** The unit is removed; what it printed last stays until somebody has read it. */
  forget(id: string): void {
    this.#consumed.delete(id);
  }

  async lastLines(id: string, count: number): Promise<string[]> {
    const words = this.#words.get(id)?.last(count) ?? [];
    const pod = this.#pods.podOf(id);
    // A node that says nothing answers nobody, after half a minute, and whoever asks may have to take the unit out of the routes.
    if (words.length >= count || pod === null || isUnreachable(pod)) return words;
    const { name, namespace = '' } = pod.metadata;
    const lines: string[] = [];
    for (const isPrevious of [true, false]) {
      const options = { container: CONTAINER, lines: count, isPrevious };
      if (isPrevious && lifeOf(pod).deaths === 0) continue;
      try {
        for await (const part of this.#client.log({ name, namespace }, options, this.#closed.signal))
          lines.push(...part.map(({ text }) => text));
      } catch (error) {
        if (!(error instanceof KubernetesError)) throw error;
      }
    }
    return (lines.length > words.length ? lines : words).slice(-count);
  }

  /** From now on what the pod prints, and nobody has stored, is kept, for with the pod it is gone. Resolves when what is there is. */
  async keepLastWords(id: string, pod: Pod): Promise<void> {
    if (this.#words.get(id)?.isComplete === false) return;
    const uid = pod.metadata.uid ?? '';
    const words = new LastWords(uid);
    this.#words.set(id, words);
    for (const oldest of [...this.#words.keys()].slice(0, Math.max(0, this.#words.size - MAX_KEPT)))
      this.#words.delete(oldest);
    const seen = new After(this.#consumed.get(id) ?? null);
    seen.enter(uid);
    const gather = async (follow: boolean): Promise<void> => {
      const limited = deadline(LAST_WORDS_MS, this.#closed.signal);
      try {
        const onPart = (): void => seen.rewind();
        const options = { since: seen.since, follow, signal: limited.signal, onPart };
        for await (const lines of podLog(this.#client, pod, options)) {
          for (const line of lines) if (seen.take(line) !== null) words.add(line);
          this.#bound();
        }
      } catch (error) {
        if (!(error instanceof KubernetesError)) throw error;
      } finally {
        limited.clear();
      }
    };
    await gather(false);
    void gather(true).finally(() => {
      words.complete();
      this.#dropRead(id);
    });
  }

  #dropRead(id: string): void {
    if (this.#words.get(id)?.isRead === true) this.#words.delete(id);
  }

  #note(id: string, cursor: string): void {
    if (this.#pods.groupOf(id) !== null) this.#consumed.set(id, cursor);
  }

  /** What was kept first goes first. */
  #bound(): void {
    let bytes = 0;
    for (const words of [...this.#words.values()].reverse()) {
      bytes += words.bytes;
      if (bytes > MAX_KEPT_BYTES) words.giveUp();
    }
  }

  close(): void {
    this.#closed.abort();
  }

  /** One that nobody knows has, unless it is not known now what there is. */
  #hasEnded(id: string): boolean {
    const [booked, view] = [this.#pods.bookOf(id), this.#pods.viewOf(id)];
    return booked === undefined ? view === null || (view.isSynced && view.trouble === null) : booked.end !== null;
  }
}

function hasBegun(pod: Pod): boolean {
  const { isRunning, deaths } = lifeOf(pod);
  return isRunning || deaths > 0;
}
