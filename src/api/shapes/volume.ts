import type { VolumeView } from '../../domain/volumes/volumes.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

/** `max_bytes` is 0 for no limit, `bytes` -1 where it is not known in time; `path` is empty where it is not mounted. */
const fields = Type.Object({
  name: Type.String(),
  app: Type.String(),
  path: Type.String(),
  /** Those that have it; empty: all. */
  processes: Type.Array(Type.String()),
  mounted_by: Type.String(),
  bytes: Type.Integer(),
  max_bytes: Type.Integer(),
  single: Type.Boolean(),
  state: Type.String(),
  created_by: Type.String(),
  created_at: Type.String(),
});

/** Who mounts it: `app` when people have said so, `file` when the app's file does. */
function toWire({ volume, mount, bytes }: VolumeView) {
  return {
    name: volume.name,
    app: volume.app,
    path: mount?.path ?? '',
    processes: [...(mount?.processes ?? [])],
    mounted_by: mount === null ? '' : mount.from === 'file' ? 'file' : 'app',
    bytes: bytes ?? -1,
    max_bytes: volume.maxBytes,
    single: volume.isSingle,
    state: volume.state,
    created_by: volume.by,
    created_at: volume.createdAt,
  };
}

export const volume = shape(fields, toWire);
export const volumes = shape(Type.Array(fields), (views: readonly VolumeView[]) => views.map(toWire));
