/** The newest values of some fields, one row per step of time: bounded, and what is older is overwritten. */
export type MetricRow<F extends string> = Readonly<Record<F, number>>;

export interface Point<F extends string> {
  /** Beginning of the step, in milliseconds since 1970. */
  readonly atMs: number;
  readonly values: MetricRow<F>;
}

export class Ring<F extends string> {
  readonly stepMs: number;
  readonly #fields: readonly F[];
  readonly #slots: number;
  /** By field. One number where it has always been that, as most are of apps that do little. */
  readonly #columns: (Float32Array | number | null)[];
  /** Which step a slot holds; 0 for none. Steps are of seconds at least, so they have room. */
  readonly #steps: Uint32Array;

  constructor(fields: readonly F[], shape: { readonly stepMs: number; readonly slots: number }) {
    this.#fields = fields;
    this.stepMs = shape.stepMs;
    this.#slots = shape.slots;
    this.#columns = fields.map(() => null);
    this.#steps = new Uint32Array(shape.slots);
  }

  /** What is put into the same step later replaces what was there. Older than the ring is long: nothing happens. */
  put(atMs: number, row: MetricRow<F>): void {
    const step = Math.floor(atMs / this.stepMs);
    const slot = step % this.#slots;
    if ((this.#steps[slot] ?? 0) > step) return;
    this.#steps[slot] = step;
    for (const [at, field] of this.#fields.entries()) this.#putValue(at, slot, Math.fround(row[field]));
  }

  #putValue(at: number, slot: number, value: number): void {
    let column = this.#columns[at] ?? value;
    if (typeof column === 'number' && column !== value) column = new Float32Array(this.#slots).fill(column);
    if (typeof column !== 'number') column[slot] = value;
    this.#columns[at] = column;
  }

  /** From `fromMs` to `toMs`, oldest first; steps of which nothing is known are left out. */
  read(fromMs: number, toMs: number): Point<F>[] {
    const last = Math.floor(toMs / this.stepMs);
    const first = Math.max(Math.floor(fromMs / this.stepMs), last - this.#slots + 1, 1);
    const points: Point<F>[] = [];
    for (let step = first; step <= last; step += 1) {
      const slot = step % this.#slots;
      if (this.#steps[slot] === step) points.push({ atMs: step * this.stepMs, values: this.#row(slot) });
    }
    return points;
  }

  #row(slot: number): MetricRow<F> {
    const values = this.#fields.map((field, at): [F, number] => {
      const column = this.#columns[at] ?? 0;
      return [field, typeof column === 'number' ? column : (column[slot] ?? 0)];
    });
    return Object.fromEntries(values) as MetricRow<F>;
  }
}
