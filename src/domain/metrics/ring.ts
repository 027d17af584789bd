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
  readonly #values: Float32Array;
  /** Which step a slot holds; 0 for none. */
  readonly #steps: Float64Array;

  constructor(fields: readonly F[], shape: { readonly stepMs: number; readonly slots: number }) {
    this.#fields = fields;
    this.stepMs = shape.stepMs;
    this.#slots = shape.slots;
    this.#values = new Float32Array(shape.slots * fields.length);
    this.#steps = new Float64Array(shape.slots);
  }

  /** What is put into the same step later replaces what was there. Older than the ring is long: nothing happens. */
  put(atMs: number, row: MetricRow<F>): void {
    const step = Math.floor(atMs / this.stepMs);
    const slot = step % this.#slots;
    if ((this.#steps[slot] ?? 0) > step) return;
    this.#steps[slot] = step;
    for (const [at, field] of this.#fields.entries()) this.#values[slot * this.#fields.length + at] = row[field];
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
    const values = this.#fields.map((field, at) => [field, this.#values[slot * this.#fields.length + at] ?? 0]);
    return Object.fromEntries(values) as MetricRow<F>;
  }
}
