/** Pure but for names of this machine: what processes of a slug see and where they begin. One for units, commands and shells. */
import { MACHINE_FILES, type SlugImage } from '../../../domain/artifacts/slug.ts';
import type { SandboxBind, SandboxRequest } from '../../../sandbox/sandbox.ts';
import { nameFiles, onSharedRoot } from '../../../sandbox/shared-root.ts';
import type { CodePlace } from './code-layers.ts';
import type { Slug } from './slug.ts';

interface Surroundings extends Pick<SandboxRequest, 'cwd' | 'binds' | 'root'> {
  /** As the process sees it. */
  readonly home: string;
  readonly tmp: string;
}

const HOSTS = '/etc/hosts';

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
  ];
  if (manifest.base !== undefined) {
    const base = onSharedRoot(manifest.base, { temporary: tmp, files: MACHINE_FILES, hosts });
    return { cwd: code, binds: [...base.binds, ...binds], root: base.root, home, tmp: '/tmp' };
  }
  const names = hosts === null ? [] : [{ path: hosts, writable: false, at: HOSTS }];
  return { cwd: code, binds: [...binds, ...names], home, tmp };
}

function inImage(image: SlugImage, { place, tmp, volumes = [], hosts = null }: Own): Surroundings {
  const binds: SandboxBind[] = [
    { path: tmp, writable: true, at: '/tmp' },
    ...nameFiles(MACHINE_FILES, hosts),
    ...volumes,
  ];
  const { uid, gid, name, directory: cwd, home } = image;
  const root = { directory: place.path, uid, gid, ...(name !== undefined && { name }) };
  return { cwd, binds, root, home, tmp: '/tmp' };
}
