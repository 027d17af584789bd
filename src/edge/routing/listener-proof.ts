/**
 * Where units share the network of the machine, the port of one that dies is anybody's, until the table says so. Whoever is to be sent a
 * request has to be seen to listen there by a process of the unit, before the connection is made and after it.
 */
import { readFileSync } from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';
import type { Target, UnitProcess } from '../../domain/routes/router.ts';
import { askedTogether } from '../../lib/asked-together.ts';
import { type Listener, listenersIn } from '../../lib/listeners.ts';
import { allProcesses, familyOf, isAlive, unlessGone } from '../../lib/processes.ts';

/** Every listener of the machine as it is after the call. */
const machineListeners = askedTogether(() => listenersIn('/proc/self/net'));

export class ListenerProof {
  readonly #target: Target;
  /** Inodes of listeners that were proven, sorted. */
  #proven: string | null = null;

  constructor(target: Target) {
    this.#target = target;
  }

  /** What has to be the same after the connection is made; null: nobody, or somebody else, listens there. */
  async before(): Promise<string | null> {
    return this.#proven ?? this.#prove();
  }

  /** Whether it is still as before() said. Where it is not, the next before() looks anew. */
  async isStill(proven: string): Promise<boolean> {
    const now = inodesOf(await this.#listeners());
    if (now === proven) return true;
    this.#proven = null;
    return false;
  }

  async #prove(): Promise<string | null> {
    const { process } = this.#target;
    const listeners = await this.#listeners();
    if (process === undefined || listeners.length === 0 || !isAlive(process.pid, process.start)) return null;
    const { uid = userOf(process.pid) } = process;
    const isOwn = uid === null ? await isByFamily(listeners, process) : isByUser(listeners, uid);
    if (!isOwn) return null;
    this.#proven = inodesOf(listeners);
    return this.#proven;
  }

  /** Those that a connection to the target's address may end at. */
  async #listeners(): Promise<Listener[]> {
    const { host, port } = this.#target;
    const all = (await machineListeners()).filter((one) => one.port === port && one.reach !== 'other');
    if (host.includes(':')) return all.filter(({ family }) => family === 6);
    const own = all.filter(({ family }) => family === 4);
    return own.length > 0 ? own : all.filter(({ reach }) => reach === 'any');
  }
}

function inodesOf(listeners: readonly Listener[]): string {
  return listeners
    .map(({ inode }) => inode)
    .sort()
    .join(' ');
}

/** A user that no other app has: then it is all the same which of its processes listens, and anybody can see that it does. */
function isByUser(listeners: readonly Listener[], uid: number): boolean {
  return listeners.every((one) => one.uid === `${uid}`);
}

/** For tables of an earlier version, which name no user: that of the unit's processes; null where it is the one that runs the platform. */
function userOf(root: number): number | null {
  for (const pid of familyOf(root, allProcesses())) {
    const status = unlessGone(() => readFileSync(`/proc/${pid}/status`, 'latin1')) ?? '';
    const uid = Number(/^Uid:\s+\d+\s+(\d+)/m.exec(status)?.[1] ?? 0);
    if (uid !== 0 && uid !== process.geteuid?.()) return uid;
  }
  return null;
}

async function isByFamily(listeners: readonly Listener[], { pid: root }: UnitProcess): Promise<boolean> {
  const all = allProcesses();
  const family = new Set([
    ...familyOf(root, all),
    ...all.filter(({ session }) => session === root).map(({ pid }) => pid),
  ]);
  const missing = new Set(listeners.map(({ inode }) => `socket:[${inode}]`));
  for (const pid of family) {
    const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
    const targets = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
    for (const target of targets) missing.delete(target);
    if (missing.size === 0) return true;
  }
  return false;
}
