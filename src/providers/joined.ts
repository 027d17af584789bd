/** Repeats of a step that still runs wait for its end and get its answer. Afterwards what a repeat means is the handlers' business. */
export class Joined<T> {
  readonly #running = new Map<string, Promise<T>>();

  run(key: string, work: () => Promise<T>): Promise<T> {
    const known = this.#running.get(key);
    if (known !== undefined) return known;
    const outcome = work().finally(() => this.#running.delete(key));
    this.#running.set(key, outcome);
    return outcome;
  }
}
