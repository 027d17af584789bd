/** Pure but for names of this machine: what processes of a slug see and where they begin. One for units, commands and shells. */
import { existsSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MACHINE_FILES, type SlugImage } from '../../../domain/deploys/slug.ts';
import type { SandboxBind, SandboxRequest } from '../../../sandbox/sandbox.ts';
import type { CodePlace } from './code-layers.ts';
import type { Slug } from './slug.ts';

export interface Surroundings extends Pick<SandboxRequest, 'cwd' | 'binds' | 'root'> {
  /** As the process is told. */
  readonly home: string;
  readonly tmp: string;
}

/** How names of hosts are found is the machine's, for so is its network. */
const NAME_FILES = ['/etc/resolv.conf', '/etc/hosts'];

/** What is the process's own: its view of the code, and directories. */
export interface Own {
  readonly place: CodePlace;
  readonly home: string;
  readonly tmp: string;
  /** Absent: none. */
  readonly volumes?: readonly SandboxBind[];
}

export function surroundings({ code, manifest }: Slug, { place, home, tmp, volumes = [] }: Own): Surroundings {
  if (manifest.image !== undefined) return inImage(place.path, manifest.image, { tmp, volumes });
  const binds = [
    { ...place, ...(place.path !== code && { at: code }) },
    { path: home, writable: true },
    { path: tmp, writable: true },
    ...manifest.binds.map((path) => ({ path, writable: false })),
    ...volumes,
  ];
  return { cwd: code, binds, home, tmp };
}

function inImage(
  code: string,
  image: SlugImage,
  { tmp, volumes }: Required<Pick<Own, 'tmp' | 'volumes'>>,
): Surroundings {
  const names = NAME_FILES.filter((path) => existsSync(path));
  const binds: SandboxBind[] = [
    { path: tmp, writable: true, at: '/tmp' },
    ...names.map((path) => ({ path: realpathSync(path), writable: false, at: join(MACHINE_FILES, basename(path)) })),
    ...volumes,
  ];
  const { uid, gid, directory: cwd, home } = image;
  return { cwd, binds, root: { directory: code, uid, gid }, home, tmp: '/tmp' };
}
