/** What is reported of a series of samples. */
export interface Summary {
  readonly n: number;
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function summary(samples: readonly number[]): Summary {
  if (samples.length === 0) throw new Error('nothing was measured');
  return { n: samples.length, median: quantile(samples, 0.5), min: Math.min(...samples), max: Math.max(...samples) };
}

/** Linear between the two samples around it. `q` from 0 to 1. */
export function quantile(samples: readonly number[], q: number): number {
  const sorted = Float64Array.from(samples).sort();
  const place = (sorted.length - 1) * q;
  const low = sorted[Math.floor(place)] ?? Number.NaN;
  const high = sorted[Math.ceil(place)] ?? Number.NaN;
  return low + (high - low) * (place - Math.floor(place));
}
