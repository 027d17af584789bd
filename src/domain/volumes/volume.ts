/**
 * A volume: a directory of one app that stays when its units go. Rules only: no storage, no effects. Where it is mounted is part of each
 * release, what it holds is not: going back to an older release brings back no data.
 */
import { withoutTrailing } from '../../lib/without-trailing.ts';
import { PlatformError } from '../errors.ts';

export interface Volume {
  readonly app: string;
  /** Unique within the app. */
  readonly name: string;
  /** Bytes it is to hold at most; 0 for no limit. */
  readonly maxBytes: number;
  /** Only one unit may have it at a time. */
  readonly isSingle: boolean;
  /** `removing`: its data is on the way out. */
  readonly state: 'ready' | 'removing';
  readonly by: string;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
}

/** Where units see a volume. */
export interface Mount {
  readonly volume: string;
  /** Absolute, or below the code (in an image: below its working directory). */
  readonly path: string;
  /** Processes that have it; empty: all. One-off commands and shells have it in any case. */
  readonly processes: readonly string[];
}

/** In a release: who says so, for only people can take away what people have set. */
export interface ReleaseMount extends Mount {
  readonly from: 'set' | 'file';
}

/** What an app's file says of a volume; it is made where the app has none of that name. */
export interface DeclaredVolume extends Omit<Mount, 'volume'> {
  /** Absent: the server's setting. */
  readonly maxBytes?: number;
  readonly isSingle?: boolean;
}

export const MAX_VOLUMES = 20;
const MAX_PATH = 255;
const MAX_SIZE = 1024 ** 5;
const NAME = /^[a-z](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
/** What every unit finds there, or must not be able to change. */
const TAKEN = ['bin', 'boot', 'dev', 'etc', 'lib', 'lib32', 'lib64', 'libx32', 'proc', 'run', 'sbin', 'sys', 'usr'];
const TAKEN_WHOLE = new Set(['/tmp', '/root', '/home', '/var', '/opt', '/srv', '/.tancho', '/.sandbox']);

/** Throws `volume.invalid`. */
export function checkVolumeName(name: unknown): string {
  if (typeof name === 'string' && NAME.test(name)) return name;
  throw invalid(
    `${shown(name)} is no name of a volume.`,
    'It has up to 40 lower case letters, digits and dashes, and starts with a letter: for example uploads.',
  );
}

/** A normal form of the path. Throws `volume.invalid`. */
export function checkMountPath(path: unknown): string {
  const text = typeof path === 'string' ? withoutTrailing(path.trim().replace(/^(?:\.\/+)+/, ''), '/') : '';
  const isAbsolute = text.startsWith('/');
  const parts = (isAbsolute ? text.slice(1) : text).split('/');
  const isPath =
    text.length <= MAX_PATH &&
    !/\p{Cc}|[\\:,]/u.test(text) &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..' && part !== '.tancho');
  if (!isPath) {
    throw invalid(
      `${shown(path)} is no path where a volume could be mounted.`,
      'Give an absolute path such as /data, or one below the code such as data/uploads.',
    );
  }
  if (isAbsolute && (TAKEN.includes(parts[0] ?? '') || TAKEN_WHOLE.has(text))) {
    throw invalid(
      `A volume cannot be mounted at ${text}: it belongs to the system.`,
      'Choose another path, such as /data.',
    );
  }
  return text;
}

/** Throws `volume.invalid`. */
export function checkVolumeSize(bytes: unknown): number {
  if (typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes >= 0 && bytes <= MAX_SIZE) return bytes;
  throw invalid(
    'That is no size of a volume.',
    'Give a number of bytes, or one with a unit: 512M, 10G; 0 for no limit.',
  );
}

/**
 * Two volumes at one path, or one inside of the other, would hide data: refused. Throws `volume.invalid`.
 */
export function checkMounts(mounts: readonly Mount[]): void {
  const sorted = [...mounts].sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const [index, inner] of sorted.entries()) {
    const outer = sorted.slice(0, index).find(({ path }) => path === inner.path || inner.path.startsWith(`${path}/`));
    if (outer === undefined) continue;
    throw invalid(
      `The volumes ${outer.volume} (at ${outer.path}) and ${inner.volume} (at ${inner.path}) would lie in each other.`,
      'Mount one of them at another path.',
    );
  }
}

/** Those of one process. */
export function mountsOf<T extends Mount>(mounts: readonly T[], process: string): T[] {
  return mounts.filter(({ processes }) => processes.length === 0 || processes.includes(process));
}

export function isAbsolutePath(path: string): boolean {
  return path.startsWith('/');
}

export function volumeNotFound(app: string, name: string): PlatformError {
  return new PlatformError('volume.not_found', `The app ${app} has no volume called ${name.slice(0, 80)}.`, {
    hint: `To see those there are: tancho volume list -a ${app}`,
  });
}

function invalid(message: string, hint: string): PlatformError {
  return new PlatformError('volume.invalid', message, { hint });
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : 'That';
}
