/** The processes of one sandbox: which they are, whether any lives, and signals to all of them. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  allProcesses,
  familyOf,
  isAlive,
  isAnyStarting,
  markedProcesses,
  readProcess,
  sendSignal,
} from '../lib/processes.ts';
import { SurvivesKill } from '../lib/survives-kill.ts';
import type { Cgroups } from './cgroups.ts';
import type { SandboxTree } from './sandbox.ts';

const KILL_DEADLINE_MS = 20_000;
/** Programs of others start all the time. */
const MOST_LOOKS = 10;

/** `isNamespace`: the root is the init of a pid namespace, which no process of the tree can leave or outlive. */
export interface TreeFacts {
  readonly isNamespace: boolean;
  readonly cgroups: Cgroups | null;
}

export function treePids(tree: SandboxTree, facts: TreeFacts): number[] {
  const grouped = groupedPids(tree, facts);
  if (grouped !== null) return grouped;
  const all = allProcesses().filter(({ zombie }) => !zombie);
  const living = new Set(all.map(({ pid }) => pid));
  const found = new Set<number>(facts.cgroups?.pids(tree.id) ?? []);
  const rootLives = isAlive(tree.rootPid, tree.rootStart);
  if (rootLives) for (const pid of familyOf(tree.rootPid, all)) found.add(pid);
  if (tree.rootPid > 0 && !facts.isNamespace && (rootLives || readProcess(tree.rootPid) === null)) {
    // A pid is not given out again while a session bears its number, so these are the tree's own.
    for (const process of all) if (process.session === tree.rootPid) found.add(process.pid);
  }
  if (!isComplete(tree, facts) || tree.rootPid === 0) for (const pid of markedProcesses(tree.id, all)) found.add(pid);
  found.delete(process.pid);
  return [...found].filter((pid) => living.has(pid));
}

/** Without both it is known by what its environment says. */
function isComplete({ rootPid }: SandboxTree, { isNamespace, cgroups }: TreeFacts): boolean {
  return cgroups !== null || (isNamespace && rootPid > 0);
}

/** Where the control group is sure to hold all of the tree: nobody needs to look at every process of the machine then. Null elsewhere. */
function groupedPids({ rootPid, rootStart, id }: SandboxTree, { isNamespace, cgroups }: TreeFacts): number[] | null {
  if (!isNamespace || cgroups === null || rootPid === 0) return null;
  const pids = cgroups.pids(id);
  // The init enters the group before it starts anything.
  if (isAlive(rootPid, rootStart) && !pids.includes(rootPid)) return null;
  return pids.filter((pid) => pid !== process.pid && readProcess(pid)?.zombie === false);
}

export function treeAlive(tree: SandboxTree, facts: TreeFacts): boolean {
  if (isAlive(tree.rootPid, tree.rootStart)) return true;
  if (facts.isNamespace && tree.rootPid > 0) return false;
  return treePids(tree, facts).length > 0;
}

/** KILL resolves when nothing of the tree is left; any other signal is sent once to each process. */
export async function signalTree(tree: SandboxTree, facts: TreeFacts, signal: NodeJS.Signals): Promise<void> {
  if (signal !== 'SIGKILL') {
    for (const pid of treePids(tree, facts)) {
      if (!(facts.isNamespace && pid === tree.rootPid)) sendSignal(pid, signal);
    }
    return;
  }
  const deadline = Date.now() + KILL_DEADLINE_MS;
  let looks = 0;
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    if (facts.isNamespace && isAlive(tree.rootPid, tree.rootStart)) sendSignal(tree.rootPid, signal);
    else for (const pid of treePids(tree, facts)) sendSignal(pid, signal);
    const isGone = !treeAlive(tree, facts);
    // One that is just starting a program bears no mark for that moment.
    if (isGone && (isComplete(tree, facts) || looks >= MOST_LOOKS || !isAnyStarting(allProcesses()))) return;
    looks = isGone ? looks + 1 : 0;
    if (Date.now() > deadline && !isGone) throw new SurvivesKill(`Processes of ${tree.id} survive SIGKILL.`);
    await delay(pause);
  }
}
