/**
 * Contract: the directories of volumes. Implementations live in backends/volume-host/<name>; a provisioner that mounts volumes finds
 * them at `<volumes>/<app>/<name>`, see volumePath().
 */
import type { Volume } from './volume.ts';

export type VolumeName = Pick<Volume, 'app' | 'name'>;

export interface SizeLimit {
  /** Absent: 30,000, for each look at all files. */
  readonly withinMs?: number;
  readonly signal?: AbortSignal;
}

/** So much a file counts at least, so that no volume takes the room for files of all others. */
export const SMALL_FILE_BYTES = 4096;

export interface VolumeHost {
  /** Makes the directory, the app's own. Idempotent; what is in one that is there stays. */
  create(volume: VolumeName): Promise<void>;
  /** Holds it to so many bytes from now on, 0 for no limit, where the machine can; elsewhere nothing. Idempotent; for one that is there. */
  hold(volume: VolumeName, maxBytes: number): Promise<void>;
  /**
   * Units that are started from now on read it only, or write it again, where the machine can; commands and shells beside them write it in any case.
   * Idempotent; for one that is there.
   */
  restrict(volume: VolumeName, isReadOnly: boolean): Promise<void>;
  /** Whether restrict() says so. */
  isRestricted(volume: VolumeName): Promise<boolean>;
  /**
   * Bytes that the files in it hold, each as one of SMALL_FILE_BYTES at least; null where that cannot be said in time, or before the signal fires. A
   * missing one holds 0.
   */
  size(volume: VolumeName, limit?: SizeLimit): Promise<number | null>;
  /** Removes the directory with all that is in it; nothing of it can be seen from the first moment on. Idempotent. */
  remove(volume: VolumeName): Promise<void>;
}

/** Below the directory of all volumes. */
export function volumePath({ app, name }: VolumeName): string {
  return `${app}/${name}`;
}

/** Is there while units may read the volume only. No volume has such a name. */
export function restrictionPath({ app, name }: VolumeName): string {
  return `${app}/.${name}.read-only`;
}
