/** Pure but for names of this machine: what processes of a slug see and where they begin. One for units, commands and shells. */
import { existsSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MACHINE_FILES, type SlugImage } from '../../../domain/artifacts/slug.ts';
import type { SandboxBind, SandboxRequest } from '../../../sandbox/sandbox.ts';
import type { CodePlace } from './code-layers.ts';
import type { Slug } from './slug.ts';

interface Surroundings extends Pick<SandboxRequest, 'cwd' | 'binds' | 'root'> {
  /** As the process is told. */
  readonly home: string;
  readonly tmp: string;
}

/** How names of hosts are found is the machine's, for so is its network. */
const HOSTS = '/etc/hosts';
const NAME_FILES = ['/etc/resolv.conf', HOSTS];

/** What is the process's own: its view of the code, and directories. */
interface Own {
  readonly place: CodePlace;
  readonly home: string;
  readonly tmp: string;
  /** Absent: none. */
  readonly volumes?: readonly SandboxBind[];
  /** In place of the machine's file; null or absent: that. */
  readonly hosts?: string | null;
}

export function surroundings({ code, manifest }: Slug, own: Own): Surroundings {
  const { place, home, tmp, volumes = [], hosts = null } = own;
  if (manifest.image !== undefined) return inImage(manifest.image, own);
  const binds = [
    { ...place, ...(place.path !== code && { at: code }) },
    { path: home, writable: true },
    { path: tmp, writable: true },
    ...manifest.binds.map((path) => ({ path, writable: false })),
    ...volumes,
    ...(hosts === null ? [] : [{ path: hosts, writable: false, at: HOSTS }]),
  ];
  return { cwd: code, binds, home, tmp };
}

function inImage(image: SlugImage, { place, tmp, volumes = [], hosts = null }: Own): Surroundings {
  const sources = new Map(NAME_FILES.map((path) => [path, path === HOSTS && hosts !== null ? hosts : path]));
  const names = [...sources].filter(([, source]) => existsSync(source));
  const binds: SandboxBind[] = [
    { path: tmp, writable: true, at: '/tmp' },
    ...names.map(([path, source]) => ({
      path: realpathSync(source),
      writable: false,
      at: join(MACHINE_FILES, basename(path)),
    })),
    ...volumes,
  ];
  const { uid, gid, name, directory: cwd, home } = image;
  const root = { directory: place.path, uid, gid, ...(name !== undefined && { name }) };
  return { cwd, binds, root, home, tmp: '/tmp' };
}
