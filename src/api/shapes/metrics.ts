import { ANSWER_FIELDS, FIELDS } from '../../domain/metrics/level.ts';
import type { AppMetrics } from '../../domain/metrics/metrics.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

/** A number that need not be whole. */
const number = Type.Unsafe<number>({ type: 'number' });

const point = Type.Object({
  at: Type.String(),
  ...named(FIELDS),
  ...named(ANSWER_FIELDS),
});

const answerTimes = Type.Object({ boundsMs: Type.Array(number), counts: Type.Array(number), sumMs: number });

const schema = Type.Object({
  ...{ app: Type.String(), stepSeconds: Type.Integer() },
  points: Type.Array(point),
  answerTimes,
});

export const appMetrics = shape(schema, ({ app, stepSeconds, points, answerTimes: times }: AppMetrics) => ({
  app,
  stepSeconds,
  points: points.map(({ atMs, values: { samples: _samples, ...values } }) => ({
    at: new Date(atMs).toISOString(),
    ...values,
  })),
  answerTimes: { ...times, boundsMs: [...times.boundsMs], counts: [...times.counts] },
}));

function named<F extends string>(fields: readonly F[]): Record<F, typeof number> {
  return Object.fromEntries(fields.map((field) => [field, number])) as Record<F, typeof number>;
}
