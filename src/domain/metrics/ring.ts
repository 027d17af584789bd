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
  #newest = 0;
  /** Whether the step that a slot is for is known, a bit for each: which step that is follows from the newest. */
  readonly #known: Uint8Array;

  constructor(fields: readonly F[], shape: { readonly stepMs: number; readonly slots: number }) {
    this.#fields = fields;
    this.stepMs = shape.stepMs;
    this.#slots = shape.slots;
    this.#columns = fields.map(() => null);
    this.#known = new Uint8Array(Math.ceil(shape.slots / 8));
  }

  /** What is put into the same step later replaces what was there. Older than the ring is long, by a clock that was ahead: it begins anew with that. */
  put(atMs: number, row: MetricRow<F>): void {
    const step = Math.floor(atMs / this.stepMs);
    const slot = step % this.#slots;
    if (step <= this.#newest - this.#slots) {
      this.#known.fill(0);
      this.#newest = step;
    }
    for (let left = Math.max(this.#newest, step - this.#slots) + 1; left < step; left += 1) this.#note(left, 0);
    this.#newest = Math.max(this.#newest, step);
    this.#note(step, 1);
    for (const [at, field] of this.#fields.entries()) this.#putValue(at, slot, Math.fround(row[field]));
  }

  #note(step: number, known: 0 | 1): void {
    const slot = step % this.#slots;
    const [at, bit] = [slot >> 3, 1 << (slot & 7)];
    const others = (this.#known[at] ?? 0) & ~bit;
    this.#known[at] = known === 1 ? others | bit : others;
  }

  #isKnown(step: number): boolean {
    const slot = step % this.#slots;
    return ((this.#known[slot >> 3] ?? 0) & (1 << (slot & 7))) !== 0;
  }

  #putValue(at: number, slot: number, value: number): void {
    let column = this.#columns[at] ?? value;
    if (typeof column === 'number' && column !== value) column = new Float32Array(this.#slots).fill(column);
    if (typeof column !== 'number') column[slot] = value;
    this.#columns[at] = column;
  }

  /** From `fromMs` to `toMs`, oldest first; steps of which nothing is known are left out. */
  read(fromMs: number, toMs: number): Point<F>[] {
    const last = Math.min(Math.floor(toMs / this.stepMs), this.#newest);
    const first = Math.max(Math.floor(fromMs / this.stepMs), this.#newest - this.#slots + 1, 1);
    const points: Point<F>[] = [];
    for (let step = first; step <= last; step += 1) {
      if (this.#isKnown(step)) points.push({ atMs: step * this.stepMs, values: this.#row(step % this.#slots) });
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
