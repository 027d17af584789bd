import type { Plan } from '../../domain/plans.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

/** Bytes; 0 for no limit. Every plan has the same share of the processors. */
const schema = Type.Array(
  Type.Object({
    name: Type.String(),
    memory: Type.Integer(),
    swap: Type.Integer(),
    cpushare: Type.Integer(),
    default: Type.Boolean(),
  }),
);

export const plans = shape(schema, (list: readonly Plan[]) =>
  list.map(({ name, memoryBytes }) => ({ name, memory: memoryBytes, swap: 0, cpushare: 100, default: true })),
);
