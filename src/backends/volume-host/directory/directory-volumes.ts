/** Volumes as directories of this machine, `<root>/<app>/<name>`: everything that stays is in one place, to be backed up as it is. */
import { mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  restrictionPath,
  SMALL_FILE_BYTES,
  type VolumeHost,
  type VolumeName,
  volumePath,
} from '../../../domain/volumes/volume-host.ts';
import { diskUsage, filesIn } from '../../../lib/disk-usage.ts';
import { randomHex } from '../../../lib/ids.ts';
import { isThere } from '../../../lib/is-there.ts';
import { NO_QUOTAS, type ProjectQuotas } from '../../../lib/project-quotas.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';

interface DirectoryVolumesOptions {
  /** Absolute; ours alone. */
  readonly root: string;
  readonly sandbox: Pick<Sandbox, 'own'>;
  /** Absent: there are none. */
  readonly quotas?: ProjectQuotas;
}

const REMOVED = '.removed-';
const NAME = /^[a-z][a-z0-9-]*$/;

/** Removals that were cut off are carried on in the background. */
export async function createDirectoryVolumes(options: DirectoryVolumesOptions): Promise<VolumeHost> {
  const { root, sandbox, quotas = NO_QUOTAS } = options;
  /** Path -> bytes, as they were set last. */
  const held = new Map<string, number>();
  await mkdir(root, { recursive: true, mode: 0o711 });
  for (const name of await readdir(root)) {
    if (name.startsWith(REMOVED)) void removeTree(join(root, name)).catch(() => undefined);
  }
  const place = (volume: VolumeName): string => {
    if (!NAME.test(volume.app) || !NAME.test(volume.name)) throw new TypeError(`no volume: ${volumePath(volume)}`);
    return join(root, volumePath(volume));
  };
  const restriction = (volume: VolumeName): string => join(place(volume), '..', basename(restrictionPath(volume)));
  return {
    async create(volume) {
      const directory = place(volume);
      await mkdir(join(root, volume.app), { recursive: true, mode: 0o711 });
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await sandbox.own(directory, volume.app);
    },
    async hold(volume, maxBytes) {
      const directory = place(volume);
      if (held.get(directory) === maxBytes) return;
      await quotas.hold(directory, [directory], { bytes: maxBytes, files: Math.ceil(maxBytes / SMALL_FILE_BYTES) });
      held.set(directory, maxBytes);
    },
    async restrict(volume, isReadOnly) {
      if (isReadOnly) await writeFile(restriction(volume), '', { mode: 0o600 });
      else await rm(restriction(volume), { force: true });
    },
    isRestricted: (volume) => isThere(restriction(volume)),
    async size(volume, limit) {
      const bytes = await diskUsage(place(volume), limit);
      const files = bytes === null ? null : await filesIn(place(volume), limit);
      // As the kernel keeps them, where it does: many empty files take no bytes, and all room for those of others.
      return bytes === null || files === null ? null : Math.max(bytes, files * SMALL_FILE_BYTES);
    },
    async remove(volume) {
      held.delete(place(volume));
      await rm(restriction(volume), { force: true });
      const removed = join(root, `${REMOVED}${randomHex(12)}`);
      try {
        await rename(place(volume), removed);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
      await removeTree(removed);
      // Left where it holds others.
      await rmdir(join(root, volume.app)).catch(() => undefined);
    },
  };
}
