import type { RoutesChange } from '../../domain/apps/app-upkeep.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

export const routesChange = shape(
  Type.Object({ Added: Type.Array(Type.String()), Removed: Type.Array(Type.String()) }),
  ({ added, removed }: RoutesChange) => ({ Added: [...added], Removed: [...removed] }),
);

/** Name -> value. */
export const metricEnvs = shape(
  Type.Record(Type.String(), Type.String()),
  (variables: Readonly<Record<string, string>>) => ({ ...variables }),
);
