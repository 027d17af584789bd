import type { AppMetrics } from '../../domain/metrics/metrics.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

/** A number that need not be whole. */
const number = Type.Unsafe<number>({ type: 'number' });

const point = Type.Object({
  at: Type.String(),
  cpuMillis: number,
  memoryBytes: number,
  units: number,
  restarts: number,
  requests: number,
  failures: number,
});

const schema = Type.Object({ app: Type.String(), stepSeconds: Type.Integer(), points: Type.Array(point) });

export const appMetrics = shape(schema, ({ app, stepSeconds, points }: AppMetrics) => ({
  app,
  stepSeconds,
  points: points.map(({ atMs, values }) => ({ at: new Date(atMs).toISOString(), ...values })),
}));
