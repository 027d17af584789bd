import type { DiskReport } from '../../domain/disk/disk-use.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

const bytes = Type.Integer();
const files = Type.Integer();
const holder = Type.Object({ kind: Type.String(), app: Type.String(), name: Type.String(), bytes });

/** Free and total are -1 where they are not known; of files 0 of 0 where the file system has no such number. */
export const disk = shape(
  Type.Object({
    free_bytes: bytes,
    total_bytes: bytes,
    free_files: files,
    total_files: files,
    reserve_bytes: bytes,
    holders: Type.Array(holder),
  }),
  ({ space, reserveBytes, holders }: DiskReport) => ({
    free_bytes: space?.freeBytes ?? -1,
    total_bytes: space?.totalBytes ?? -1,
    free_files: space?.freeFiles ?? -1,
    total_files: space?.totalFiles ?? -1,
    reserve_bytes: reserveBytes,
    holders: holders.map(({ kind, app, name, bytes: held }) => ({ kind, app, name, bytes: held })),
  }),
);
