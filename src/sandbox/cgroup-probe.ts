/** Finds the control group hierarchies in which this process may make groups, by making one. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomHex } from '../lib/ids.ts';
import { Cgroups, CONTROLLERS } from './cgroups.ts';
import type { CgroupBase, Controller } from './cgroups.ts';

const BASE_NAME = 'tancho';
/** All apps of the machine together; what is beside them are services of the machine, and where the kernel groups by sessions, these. */
const ALL_APPS_SHARE = 200;

interface Hierarchy {
  readonly version: 1 | 2;
  /** Version 1: the controllers of this mount. */
  readonly controllers: readonly Controller[];
  /** From the top of the mount down to this process's own group. */
  readonly candidates: readonly string[];
}

/** Pure: reads /proc/self/mountinfo and /proc/self/cgroup. */
export function hierarchies(mountInfo: string, ownGroups: string): Hierarchy[] {
  const own = ownGroups
    .trim()
    .split('\n')
    .map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
    .map((match) => ({ names: (match?.[1] ?? '').split(','), path: match?.[2] ?? '/' }));
  const found: Hierarchy[] = [];
  for (const line of mountInfo.trim().split('\n')) {
    const [left = '', right = ''] = line.split(' - ');
    const [, , , root = '/', mount = ''] = left.split(' ');
    const [type = '', , options = ''] = right.split(' ');
    if (type !== 'cgroup' && type !== 'cgroup2') continue;
    const version = type === 'cgroup2' ? 2 : 1;
    const controllers = CONTROLLERS.filter((name) => version === 1 && options.split(',').includes(name));
    if (version === 1 && controllers.length === 0) continue;
    const group = own.find(({ names }) => (version === 2 ? names[0] === '' : names.includes(controllers[0] ?? '')));
    found.push({ version, controllers, candidates: candidatesOf(mount, root, group?.path ?? '/') });
  }
  return found;
}

function candidatesOf(mount: string, root: string, ownPath: string): string[] {
  const inside = root !== '/' && ownPath.startsWith(root) ? ownPath.slice(root.length) : ownPath;
  const names = inside.split('/').filter((name) => name !== '' && name !== '..');
  return [mount, ...names.map((_, index) => join(mount, ...names.slice(0, index + 1)))];
}

/** Null with the reason when no limit can be set. */
export async function probeCgroups(): Promise<{ cgroups: Cgroups | null; why: string }> {
  const found = hierarchies(readFileSync('/proc/self/mountinfo', 'utf8'), readFileSync('/proc/self/cgroup', 'utf8'));
  if (found.length === 0) return { cgroups: null, why: 'no control groups are mounted' };
  const unified = found.find(({ version }) => version === 2);
  const modern = unified?.candidates.map(unifiedBase).find((base) => base !== null);
  if (modern && (await accepts(modern))) return { cgroups: new Cgroups([modern]), why: '' };
  const bases: CgroupBase[] = [];
  for (const hierarchy of found.filter(({ version }) => version === 1)) {
    // Deepest first: below our own group, so that a limit set on the platform holds for its apps too.
    for (const candidate of [...hierarchy.candidates].reverse()) {
      const { controllers } = hierarchy;
      const base: CgroupBase = {
        version: 1,
        path: join(candidate, BASE_NAME),
        controllers,
        cpuShare: ALL_APPS_SHARE,
      };
      if (!(await accepts(base))) continue;
      bases.push(base);
      break;
    }
  }
  if (bases.length > 0) return { cgroups: new Cgroups(bases), why: '' };
  return { cgroups: null, why: 'control groups are not writable for the platform' };
}

/**
 * Version 2 lets a group with processes of its own hand no controllers on, so the base is made as high as allowed, beside the
 * platform's own group. That also keeps apps alive when a service manager ends everything in the platform's group.
 */
export function unifiedBase(parent: string): CgroupBase | null {
  const path = join(parent, BASE_NAME);
  try {
    const offered = words(join(parent, 'cgroup.controllers'));
    const enabled = words(join(parent, 'cgroup.subtree_control'));
    const wanted = CONTROLLERS.filter((name) => offered.includes(name));
    if (wanted.length === 0) return null;
    const missing = wanted.filter((name) => !enabled.includes(name));
    if (missing.length > 0) {
      writeFileSync(join(parent, 'cgroup.subtree_control'), missing.map((name) => `+${name}`).join(' '));
    }
    const isNew = mkdirSync(path, { recursive: true }) !== undefined;
    const usable = words(join(path, 'cgroup.controllers'));
    // Units of an earlier control may live in it.
    if (isNew) rmdirSync(path);
    return { version: 2, path, controllers: wanted.filter((name) => usable.includes(name)), cpuShare: ALL_APPS_SHARE };
  } catch {
    return null;
  }
}

function words(path: string): string[] {
  return readFileSync(path, 'latin1').trim().split(/\s+/);
}

/** Really limits and holds a process. */
async function accepts(base: CgroupBase): Promise<boolean> {
  const trial = new Cgroups([base]);
  const id = `probe-${randomHex(12)}`;
  const child = spawn('/bin/sleep', ['10'], { stdio: 'ignore' });
  const gone = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  try {
    if (child.pid === undefined) return false;
    trial.create(id, { memoryBytes: 64 * 1024 * 1024, cpuMillis: 1000, processes: 64 });
    trial.join(id, child.pid);
    return trial.pids(id).includes(child.pid);
  } catch {
    return false;
  } finally {
    child.kill('SIGKILL');
    await gone;
    await trial.remove(id).catch(() => undefined);
  }
}
