/** What the server says, kept fresh: it is read again every few seconds while somebody looks at it. */
import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { comebacks } from '../api/connection.ts';
import { type Problem, problemOf } from '../api/problem.ts';
import { hasExpired } from '../api/session.ts';

export interface Resource<T> {
  /** Undefined until it was read once. */
  readonly data: Signal<T | undefined>;
  /** Of the last attempt. */
  readonly problem: Signal<Problem | null>;
  /** Reads it now. */
  refresh(): Promise<void>;
}

export const OFTEN_MS = 2_500;
export const USUALLY_MS = 5_000;

/** `key`: of what is read; another one is another resource. */
export function useResource<T>(
  key: string,
  read: (signal: AbortSignal) => Promise<T>,
  everyMs: number = USUALLY_MS,
): Resource<T> {
  const poller = useMemo(() => new Poller(read, everyMs), [key]);
  poller.read = read;
  poller.everyMs = everyMs;
  useEffect(() => poller.start(), [poller]);
  return poller;
}

class Poller<T> implements Resource<T> {
  readonly data = signal<T | undefined>(undefined);
  readonly problem = signal<Problem | null>(null);
  read: (signal: AbortSignal) => Promise<T>;
  everyMs: number;
  #last = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reading: AbortController | null = null;
  #isStopped = true;

  constructor(read: (signal: AbortSignal) => Promise<T>, everyMs: number) {
    this.read = read;
    this.everyMs = everyMs;
  }

  start(): () => void {
    this.#isStopped = false;
    const look = (): void => {
      if (document.visibilityState === 'visible') void this.refresh();
      else this.#later();
    };
    document.addEventListener('visibilitychange', look);
    const unsubscribe = comebacks.subscribe(look);
    return () => {
      this.#isStopped = true;
      this.#reading?.abort();
      clearTimeout(this.#timer);
      document.removeEventListener('visibilitychange', look);
      unsubscribe();
    };
  }

  async refresh(): Promise<void> {
    clearTimeout(this.#timer);
    this.#reading?.abort();
    const reading = new AbortController();
    this.#reading = reading;
    try {
      const value = await this.read(reading.signal);
      if (reading.signal.aborted) return;
      this.#keep(value);
      this.problem.value = null;
    } catch (thrown) {
      if (reading.signal.aborted) return;
      this.problem.value = problemOf(thrown);
    }
    this.#later();
  }

  /** What has not changed is not drawn again. */
  #keep(value: T): void {
    const text = JSON.stringify(value);
    if (text === this.#last && this.data.value !== undefined) return;
    this.#last = text;
    this.data.value = value;
  }

  #later(): void {
    clearTimeout(this.#timer);
    if (this.#isStopped || hasExpired.value) return;
    this.#timer = setTimeout(() => {
      if (document.visibilityState === 'visible') void this.refresh();
      else this.#later();
    }, this.everyMs);
  }
}
