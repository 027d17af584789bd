/** Finds on which TCP ports a set of processes listens, from the kernel's tables. */
import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { tcpTable } from './tcp-table.ts';

export interface Listener {
  /** Whom it answers: everyone, this machine only, or one other interface. */
  readonly reach: 'any' | 'loopback' | 'other';
  /** 6 on every interface may or may not answer IPv4 too; the kernel's table does not say. */
  readonly family: 4 | 6;
  readonly port: number;
  readonly inode: string;
  /** User of the process that opened it. */
  readonly uid: string;
}

/** Local address and port, state; then, behind queues and timers, user and inode. */
const ROW = /^ *\d+: ([0-9A-F]+):([0-9A-F]{4}) \S+ 0A \S+ \S+ \S+ +(\d+) +\d+ +(\d+) /gm;
const MAPPED = /^0{16}FFFF0000/;
const ANY = /^0+$|^0{16}FFFF0{12}$/;
const LOOPBACK = /^0100007F$|^0{24}01000000$|^0{16}FFFF00000100007F$/;
/** Of each table of a unit's own network. Those who listen come first in it: nearly two thousand of them. */
const MOST_OWN_BYTES = 256 * 1024;

/** Pure: the listening sockets among rows of /proc/<pid>/net/tcp or tcp6. */
export function parseListeners(rows: string): Listener[] {
  return Array.from(rows.matchAll(ROW), ([, address = '', port = '', uid = '', inode = '']) => {
    const reach = ANY.test(address) ? 'any' : LOOPBACK.test(address) ? 'loopback' : 'other';
    const family = address.length === 8 || MAPPED.test(address) ? 4 : 6;
    return { reach, family, port: Number.parseInt(port, 16), inode, uid };
  });
}

/** All in the network whose tables are in a directory, `/proc/<pid>/net`. */
export async function listenersIn(directory: string, mostBytes = Number.POSITIVE_INFINITY): Promise<Listener[]> {
  const read = async (name: string): Promise<Listener[]> => {
    const found: Listener[] = [];
    let bytes = 0;
    for await (const rows of tcpTable(join(directory, name))) {
      found.push(...parseListeners(rows));
      bytes += rows.length;
      if (bytes >= mostBytes) break;
    }
    return found;
  };
  return (await Promise.all(['tcp', 'tcp6'].map(read))).flat();
}

export interface Listeners {
  readonly own: readonly Listener[];
  /** Those of all other processes in the same network. */
  readonly foreign: readonly Listener[];
}

/** In the network of the machine, or another that they share. Null when the processes' open files may not be looked at. */
export async function listenersOf(pids: readonly number[]): Promise<Listeners | null> {
  const inodes = new Set<string>();
  let isReadable = false;
  for (const pid of pids) {
    const names = await readdir(`/proc/${pid}/fd`).catch(() => null);
    if (names === null) continue;
    isReadable = true;
    for (const name of names) {
      const target = await readlink(`/proc/${pid}/fd/${name}`).catch(() => '');
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
      if (inode !== undefined) inodes.add(inode);
    }
  }
  if (!isReadable) return null;
  const all = await networkListeners(pids);
  return {
    own: all.filter(({ inode }) => inodes.has(inode)),
    foreign: all.filter(({ inode }) => !inodes.has(inode)),
  };
}

/** In a network that nobody but these processes is in. */
export async function listenersAlone(pids: readonly number[]): Promise<Listeners> {
  return { own: await networkListeners(pids, MOST_OWN_BYTES), foreign: [] };
}

/** True when a connection to this host and port of this machine ends at one of the processes' own listeners. */
export function answersAt(host: '127.0.0.1' | '::1', port: number, { own, foreign }: Listeners): boolean {
  const listens = (listeners: readonly Listener[], family: 4 | 6): Listener[] =>
    listeners.filter((one) => one.port === port && one.family === family && one.reach !== 'other');
  if (host === '::1') return listens(own, 6).length > 0;
  if (listens(own, 4).length > 0) return true;
  // One that answers both families leaves no room for a stranger on IPv4.
  return listens(own, 6).some(({ reach }) => reach === 'any') && listens(foreign, 4).length === 0;
}

/** Whether processes alone in their network listen on a port, at all of its addresses or at its loopback of IPv4. */
export async function isListenedAt(pids: readonly number[], port: number): Promise<boolean> {
  const { own } = await listenersAlone(pids);
  return own.some(
    (one) => one.port === port && (one.reach === 'any' || (one.reach === 'loopback' && one.family === 4)),
  );
}

/** All processes of a unit share one network namespace; the first that still lives answers for all. */
async function networkListeners(pids: readonly number[], mostBytes?: number): Promise<Listener[]> {
  for (const pid of pids) {
    const found = await listenersIn(`/proc/${pid}/net`, mostBytes).catch(() => null);
    if (found !== null) return found;
  }
  return [];
}
