/** Works out which directories of this machine every sandbox is to see, read-only. */
import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { userHome } from '../lib/user-home.ts';
import type { SystemView } from './plan.ts';
import { isWanted } from './system-settings.ts';

const SYSTEM_PATHS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'];

/** Where the kernel shows the machine as a whole, or others. */
const MASKED = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/proc/timer_list',
  '/proc/timer_stats',
];

/** Directories that hold more than the one program that may stand in their `bin`. */
const SHARED = ['/', '/home', '/mnt', '/opt', '/root', '/srv', '/tmp', '/var'];

/** `home` is never shown, nor anything that contains it. */
export function systemView(home: string, runtime: string = process.execPath): SystemView {
  const directories: string[] = [];
  const links: { path: string; target: string }[] = [];
  const settings = readdirSync('/etc').filter(isWanted);
  for (const path of [...SYSTEM_PATHS, ...settings.map((name) => join('/etc', name))]) {
    if (!existsSync(path)) continue;
    if (lstatSync(path).isSymbolicLink()) links.push({ path, target: readlinkSync(path) });
    else directories.push(path);
  }
  const seen = (path: string): boolean => directories.some((directory) => isWithin(path, directory));
  const program = realpathSync(runtime);
  if (!seen(program)) {
    const prefix = dirname(dirname(program));
    const own = userHome();
    const shared = own === null ? SHARED : [...SHARED, own, join(own, '.local')];
    const isInstallation = basename(dirname(program)) === 'bin' && !shared.includes(prefix);
    const fits = isInstallation && !isWithin(home, prefix);
    directories.push(fits ? prefix : program);
  }
  // Name resolution is often a link to a file that a service writes elsewhere.
  const resolver = existsSync('/etc/resolv.conf') ? realpathSync('/etc/resolv.conf') : null;
  if (resolver !== null && !seen(resolver)) directories.push(resolver);
  return { directories, links, masked: MASKED.filter((path) => existsSync(path)).map(masked) };
}

function masked(path: string): SystemView['masked'][number] {
  return { path, isDirectory: lstatSync(path).isDirectory() };
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
}
