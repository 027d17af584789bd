import { Type } from '../schema.ts';
import { availableOf, type Quota } from '../../domain/quotas/quota.ts';
import { shape } from './shape.ts';

/** What `available` is where there is no limit: the largest number that fits into every client's integer. */
const UNLIMITED = 2_147_483_647;

/** Specification 2: how many are in use, and how many more may come. */
export const quota = shape(Type.Object({ items: Type.Integer(), available: Type.Integer() }), (value: Quota) => ({
  items: value.inUse,
  available: availableOf(value) ?? UNLIMITED,
}));

/** As clients of later servers read it; -1 is without limit. */
export const limit = shape(Type.Object({ limit: Type.Integer(), inuse: Type.Integer() }), (value: Quota) => ({
  limit: value.limit ?? -1,
  inuse: value.inUse,
}));
