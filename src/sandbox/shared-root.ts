/** Pure but for names of this machine: what a process on a base that others are on, too, sees beside what is its own. */
import { existsSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { SandboxBind, SandboxRoot } from './sandbox.ts';

export interface SharedRoot {
  readonly root: string;
  /** Of the platform. */
  readonly home: string;
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
}

/** How names of hosts are found is the machine's, for so is its network. */
const HOSTS = '/etc/hosts';
const NAME_FILES = ['/etc/resolv.conf', HOSTS];
const TEMPORARY = ['/tmp', '/var/tmp'];

/** Files of the machine by which processes find other machines, below one directory. `hosts`: in place of the machine's; null: that. */
export function nameFiles(directory: string, hosts: string | null): SandboxBind[] {
  const sources = NAME_FILES.map(
    (path) => (path === HOSTS && hosts !== null ? [path, hosts] : [path, path]) as [string, string],
  );
  const there = sources.filter(([, source]) => existsSync(source));
  return there.map(([path, source]) => ({
    path: realpathSync(source),
    writable: false,
    at: join(directory, basename(path)),
  }));
}

/** `temporary`: a directory of the process's own; null: it writes nothing. `files`: where its root looks for files of the machine. */
export function onSharedRoot(
  { root, home, uid, gid, name }: SharedRoot,
  {
    temporary,
    files,
    hosts = null,
  }: { readonly temporary: string | null; readonly files: string; readonly hosts?: string | null },
): { readonly root: SandboxRoot; readonly binds: SandboxBind[] } {
  const binds: SandboxBind[] = [{ path: home, writable: false, isEmpty: true }, ...nameFiles(files, hosts)];
  for (const at of temporary === null ? [] : TEMPORARY) {
    binds.push({ path: temporary ?? '', writable: true, at, within: true });
  }
  return { root: { directory: root, uid, gid, name, isShared: true }, binds };
}
