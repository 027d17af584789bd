/** What a measure works with: the clock, the rounds, the worlds; everything it opened is closed at the end, come what may. */
import type { Figure } from './report.ts';
import { startWorld, type World, type WorldOptions } from '../test/support/world.ts';

export interface Measure {
  readonly name: string;
  /** One line for --list. */
  readonly about: string;
  /** It may take this long, and is run only where it is named. Absent: it is part of every run. */
  readonly longMs?: number;
  run(bench: Bench): Promise<void>;
}

interface Disposable {
  dispose(): Promise<void>;
}

/** So that the whole run stays within its time on a slow machine: fewer rounds, but never fewer than these. */
const FEWEST_ROUNDS = 3;

export class Bench {
  readonly #opened: Disposable[] = [];
  readonly #figure: (figure: Figure) => void;
  readonly #note: (text: string) => void;
  #isClosed = false;
  #endAt = Number.POSITIVE_INFINITY;

  constructor(figure: (figure: Figure) => void, note: (text: string) => void) {
    this.#figure = figure;
    this.#note = note;
  }

  /** After this time no new rounds are begun beyond the fewest. */
  limitTo(ms: number): void {
    this.#endAt = performance.now() + ms;
  }

  publish(figure: Figure): void {
    this.#figure(figure);
  }

  /** Something the reader has to know, for example why a figure is missing. */
  note(text: string): void {
    this.#note(text);
  }

  async rounds(count: number, round: (index: number) => Promise<void>): Promise<void> {
    for (let index = 0; index < count; index++) {
      if (index >= FEWEST_ROUNDS && performance.now() > this.#endAt) return;
      await round(index);
    }
  }

  async world(options: WorldOptions = {}): Promise<World> {
    const world = await startWorld(options);
    // A measure that was stopped may have been waiting here.
    if (this.#isClosed) {
      await world.dispose();
      throw new Error('the measure was stopped');
    }
    return this.keep(world);
  }

  keep<T extends Disposable>(one: T): T {
    this.#opened.push(one);
    return one;
  }

  async dispose(one: Disposable): Promise<void> {
    const at = this.#opened.indexOf(one);
    if (at >= 0) this.#opened.splice(at, 1);
    await one.dispose();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const one of this.#opened.splice(0).reverse()) await one.dispose();
  }
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
