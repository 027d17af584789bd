import type { DiskReport } from '../../domain/disk/disk-use.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

const bytes = Type.Integer();
const holder = Type.Object({ kind: Type.String(), app: Type.String(), name: Type.String(), bytes });

/** Free and total are -1 where they are not known. */
export const disk = shape(
  Type.Object({ free_bytes: bytes, total_bytes: bytes, reserve_bytes: bytes, holders: Type.Array(holder) }),
  ({ space, reserveBytes, holders }: DiskReport) => ({
    free_bytes: space?.freeBytes ?? -1,
    total_bytes: space?.totalBytes ?? -1,
    reserve_bytes: reserveBytes,
    holders: holders.map(({ kind, app, name, bytes: held }) => ({ kind, app, name, bytes: held })),
  }),
);
