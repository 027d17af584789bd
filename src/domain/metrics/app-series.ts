/** What is known of one app over time: every ten seconds for two hours, every minute for two days. */
import { type Point, Ring, type Row } from './ring.ts';

export const FIELDS = ['cpuMillis', 'memoryBytes', 'units', 'restarts', 'requests', 'failures'] as const;
export type Field = (typeof FIELDS)[number];
export type Sample = Row<Field>;

/** Counters since the platform began to look; they never go back. */
export interface Totals {
  readonly cpuMs: number;
  readonly restarts: number;
  readonly requests: number;
  readonly failures: number;
}

export const FINE = { stepMs: 10_000, slots: 720 };
export const COARSE = { stepMs: 60_000, slots: 2_880 };

export class AppSeries {
  totals: Totals = { cpuMs: 0, restarts: 0, requests: 0, failures: 0 };
  latest: Sample | null = null;
  readonly #fine = new Ring(FIELDS, FINE);
  readonly #coarse = new Ring(FIELDS, COARSE);
  #minute: { readonly number: number; readonly samples: Sample[] } = { number: 0, samples: [] };

  add(atMs: number, sample: Sample, totals: Totals): void {
    this.latest = sample;
    this.totals = totals;
    this.#fine.put(atMs, sample);
    const number = Math.floor(atMs / COARSE.stepMs);
    if (this.#minute.number !== number) this.#minute = { number, samples: [] };
    this.#minute.samples.push(sample);
    this.#coarse.put(atMs, summary(this.#minute.samples));
  }

  /** In the finer steps as long as those reach back so far. */
  read(fromMs: number, toMs: number): { readonly stepMs: number; readonly points: Point<Field>[] } {
    const ring = toMs - fromMs <= FINE.stepMs * FINE.slots ? this.#fine : this.#coarse;
    return { stepMs: ring.stepMs, points: ring.read(fromMs, toMs) };
  }
}

/** Of a minute: the mean of what is a level, the sum of what is counted. */
function summary(samples: readonly Sample[]): Sample {
  const sum = (field: Field): number => samples.reduce((total, sample) => total + sample[field], 0);
  const mean = (field: Field): number => sum(field) / samples.length;
  return {
    cpuMillis: mean('cpuMillis'),
    memoryBytes: mean('memoryBytes'),
    units: mean('units'),
    restarts: sum('restarts'),
    requests: sum('requests'),
    failures: sum('failures'),
  };
}
