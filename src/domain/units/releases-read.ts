/** Releases of many units, each read once: the units of an app share theirs. For as long as one piece of work takes: a release never changes, but it goes. */
import type { Store } from '../store.ts';
import type { Release } from '../apps/app.ts';
import type { Unit } from './unit.ts';

export class ReleasesRead {
  readonly #store: Pick<Store, 'release'>;
  readonly #read = new Map<string, Promise<Release | null>>();

  constructor(store: Pick<Store, 'release'>) {
    this.#store = store;
  }

  of({ app, release }: Pick<Unit, 'app' | 'release'>): Promise<Release | null> {
    const key = `${app} ${release}`;
    const known = this.#read.get(key);
    if (known !== undefined) return known;
    const reading = this.#store.release(app, release);
    this.#read.set(key, reading);
    // Whoever asks again may have an answer.
    reading.catch(() => this.#read.delete(key));
    return reading;
  }
}
