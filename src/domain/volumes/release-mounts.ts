/** Which volumes the units of a release have, and whether they may. */
import type { AppSettings } from '../apps/app-settings.ts';
import { PlatformError } from '../errors.ts';
import type { Supports } from '../units/provisioner.ts';
import {
  checkMounts,
  type DeclaredVolume,
  isAbsolutePath,
  mountsOf,
  type ReleaseMount,
  type Volume,
} from './volume.ts';
import type { VolumeReader } from './volume-store.ts';

interface Mounting {
  readonly mounts: readonly ReleaseMount[];
  readonly image: string;
}

/** What people have set comes before what the app's file says. Throws `volume.invalid`. */
export function releaseMounts(
  set: AppSettings['mounts'],
  declared: Readonly<Record<string, DeclaredVolume>> = {},
): ReleaseMount[] {
  const byVolume = new Map<string, ReleaseMount>();
  for (const [volume, { path, processes }] of Object.entries(declared)) {
    byVolume.set(volume, { volume, path, processes, from: 'file' });
  }
  for (const [volume, mount] of Object.entries(set)) byVolume.set(volume, { volume, ...mount, from: 'set' });
  const mounts = [...byVolume.values()].sort((a, b) => (a.volume < b.volume ? -1 : 1));
  checkMounts(mounts);
  return mounts;
}

/** Throws `unsupported` where the machine cannot mount them, saying why. */
export function demandMountable({ mounts, image }: Mounting, { volumes }: Pick<Supports, 'volumes'>): void {
  const [first] = mounts;
  if (first === undefined || volumes === 'anywhere') return;
  if (volumes === 'none') throw new PlatformError('unsupported', 'Units here cannot have volumes.');
  const absolute = mounts.find(({ path }) => isAbsolutePath(path));
  if (absolute === undefined && image === '') return;
  const what = absolute === undefined ? 'of an image' : `at ${absolute.path}`;
  throw new PlatformError(
    'unsupported',
    `The volume ${(absolute ?? first).volume} cannot be mounted ${what}: without bubblewrap units see the files of the machine itself.`,
    { hint: 'Mount it at a path below the code, such as data; or ask an operator to install bubblewrap.' },
  );
}

/**
 * To be called in the transaction after which units of the release are to run, so many per process. Throws `volume.not_found` for one that
 * was removed since, `volume.one_writer` where several units would have one that only one may have.
 */
export async function demandVolumes(
  tx: VolumeReader,
  { app, mounts }: { readonly app: string; readonly mounts: readonly ReleaseMount[] },
  counts: ReadonlyMap<string, number>,
): Promise<void> {
  if (mounts.length === 0) return;
  const volumes = new Map((await tx.volumes(app)).map((volume) => [volume.name, volume]));
  for (const { volume } of mounts) {
    if (volumes.get(volume)?.state === 'ready') continue;
    throw new PlatformError(
      'volume.not_found',
      `The release mounts the volume ${volume}, which the app no longer has.`,
      {
        hint: `Make it anew, empty: tancho volume create ${volume} -a ${app}`,
      },
    );
  }
  for (const name of singles(volumes.values(), mounts)) {
    const holders = [...counts].filter(([process]) => mountsOf(mounts, process).some(({ volume }) => volume === name));
    const units = holders.reduce((sum, [, count]) => sum + count, 0);
    if (units <= 1) continue;
    const list = holders.map(([process, count]) => `${process}: ${count}`).join(', ');
    throw new PlatformError(
      'volume.one_writer',
      `Only one unit may have the volume ${name}, and ${units} would (${list}).`,
      {
        hint: `Mount it for one process with one unit: tancho volume mount ${name} <path> --process <process> -a ${app}; or let several have it: tancho volume update ${name} --shared -a ${app}`,
      },
    );
  }
}

/** Those of the mounted volumes that only one unit may have. */
export function singles(volumes: Iterable<Volume>, mounts: readonly ReleaseMount[]): Set<string> {
  const mounted = new Set(mounts.map(({ volume }) => volume));
  return new Set([...volumes].filter(({ name, isSingle }) => isSingle && mounted.has(name)).map(({ name }) => name));
}
