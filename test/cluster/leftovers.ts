/** What containers leave behind: shims, processes, mounts and control groups. Of a cluster that ended as it should there is the same, for containers outlive containerd. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { isAlive, unlessGone } from '../../src/lib/processes.ts';
import { until } from '../support/until.ts';
import { hierarchies } from './control-groups.ts';
import { removePodNetworks } from './pod-networks.ts';
import { removeRoute } from './services.ts';

export const PREFIX = 'tancho-cluster-';

/** Everything of the cluster in `directory`, whose programs have ended, and the directory. */
export async function removeCluster(directory: string): Promise<void> {
  const group = path.basename(directory);
  await killContainers(directory, group);
  for (const mount of await mountsBelow(directory)) await promisify(execFile)('/usr/bin/umount', ['--lazy', mount]);
  if ((await mountsBelow(directory)).length > 0) throw new Error(`Something is still mounted below ${directory}.`);
  for (const hierarchy of hierarchies()) removeGroup(path.join(hierarchy, group));
  await removePodNetworks(directory);
  await removeRoute(directory);
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}

/** Those that are started from the directory, or are in the control group; `group`: below that of the machine. */
export async function killContainers(directory: string, group: string): Promise<void> {
  const groups = hierarchies().map((hierarchy) => path.join(hierarchy, group));
  const processes = async (): Promise<number[]> => [...(await shims(directory)), ...groups.flatMap(membersOf)];
  await until(
    async () => {
      const left = await processes();
      for (const pid of left) endProcess(pid);
      return left.length === 0;
    },
    { what: 'the containers to be gone', everyMs: 10 },
  );
}

/** All that runs in a pod of any cluster of this machine, in one moment; its node starts it again. */
export async function killPod(uid: string): Promise<void> {
  for (const pid of processesOfPod(uid)) endProcess(pid);
}

/** As this machine numbers them. */
export function processesOfPod(uid: string): number[] {
  const groups = hierarchies().flatMap((hierarchy) => groupsOf(hierarchy, `pod${uid}`));
  return [...new Set(groups.flatMap(membersOf))];
}

function groupsOf(group: string, name: string): string[] {
  return childrenOf(group).flatMap((child) => (path.basename(child) === name ? [child] : groupsOf(child, name)));
}

/** Of clusters whose process was killed. */
export async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const directory = path.join(parent, name);
    const [pid, start] = (await readFile(path.join(directory, 'owner'), 'utf8').catch(() => '0 ')).split(' ');
    if (!isAlive(Number(pid), start ?? '')) await removeCluster(directory);
  }
}

async function shims(directory: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return command.includes('containerd-shim') && command.includes(`${directory}/`) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

/** Groups of pods that end meanwhile have none. */
function membersOf(group: string): number[] {
  const own = (unlessGone(() => readFileSync(path.join(group, 'cgroup.procs'), 'utf8')) ?? '')
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0);
  return [...own, ...childrenOf(group).flatMap(membersOf)];
}

function removeGroup(group: string): void {
  if (!existsSync(group)) return;
  childrenOf(group).forEach(removeGroup);
  rmdirSync(group);
}

function childrenOf(group: string): string[] {
  return (unlessGone(() => readdirSync(group)) ?? [])
    .map((name) => path.join(group, name))
    .filter((child) => statSync(child, { throwIfNoEntry: false })?.isDirectory() === true);
}

/** The innermost first. */
async function mountsBelow(directory: string): Promise<string[]> {
  const places = (await readFile('/proc/self/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '');
  return places.filter((place) => place.startsWith(`${directory}/`)).reverse();
}

export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}
