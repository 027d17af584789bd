/** Finds on which TCP ports a set of processes listens, from the kernel's tables. */
import { readFile, readdir, readlink } from 'node:fs/promises';

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

const LISTEN_STATE = '0A';
const MAPPED = /^0{16}FFFF0000/;
const ANY = /^0+$|^0{16}FFFF0{12}$/;
const LOOPBACK = /^0100007F$|^0{24}01000000$|^0{16}FFFF00000100007F$/;

/** Pure: the listening sockets of /proc/<pid>/net/tcp or tcp6. */
export function parseListeners(table: string): Listener[] {
  const found: Listener[] = [];
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', , state, , , , uid = '', , inode = ''] = line.trim().split(/\s+/);
    const [address = '', port = ''] = local.split(':');
    if (state !== LISTEN_STATE) continue;
    const reach = ANY.test(address) ? 'any' : LOOPBACK.test(address) ? 'loopback' : 'other';
    const family = address.length === 8 || MAPPED.test(address) ? 4 : 6;
    found.push({ reach, family, port: Number.parseInt(port, 16), inode, uid });
  }
  return found;
}

export interface Listeners {
  readonly own: readonly Listener[];
  /** Those of all other processes in the same network. */
  readonly foreign: readonly Listener[];
}

/** Null when the processes' open files may not be looked at. */
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
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => networkTable(pids, name)));
  const all = tables.flatMap(parseListeners);
  return {
    own: all.filter(({ inode }) => inodes.has(inode)),
    foreign: all.filter(({ inode }) => !inodes.has(inode)),
  };
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

/** Whether anybody in the network of these processes listens on a port, at all of its addresses or at its loopback of IPv4. */
export async function isListenedAt(pids: readonly number[], port: number): Promise<boolean> {
  for (const name of ['tcp', 'tcp6']) {
    const found = parseListeners(await networkTable(pids, name)).filter((one) => one.port === port);
    if (found.some(({ reach, family }) => reach === 'any' || (reach === 'loopback' && family === 4))) return true;
  }
  return false;
}

/** All processes of a unit share one network namespace; the first that still lives answers for all. */
async function networkTable(pids: readonly number[], name: string): Promise<string> {
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/net/${name}`, 'latin1').catch(() => null);
    if (text !== null) return text;
  }
  return '';
}
