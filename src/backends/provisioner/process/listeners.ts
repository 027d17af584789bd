/** Finds on which TCP ports a set of processes listens, from the kernel's tables. */
import { readFile, readdir, readlink } from 'node:fs/promises';

export interface Listener {
  /** Whom it answers: everyone, this machine only, or one other interface. */
  readonly reach: 'any' | 'loopback' | 'other';
  readonly port: number;
  readonly inode: string;
}

const LISTEN_STATE = '0A';
const ANY = /^0+$|^0{16}FFFF0{12}$/;
const LOOPBACK = /^0100007F$|^0{24}01000000$|^0{16}FFFF00000100007F$/;

/** Pure: the listening sockets of /proc/<pid>/net/tcp or tcp6. */
export function parseListeners(table: string): Listener[] {
  const found: Listener[] = [];
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    const [address = '', port = ''] = local.split(':');
    if (state !== LISTEN_STATE) continue;
    const reach = ANY.test(address) ? 'any' : LOOPBACK.test(address) ? 'loopback' : 'other';
    found.push({ reach, port: Number.parseInt(port, 16), inode });
  }
  return found;
}

/** Null when the processes' open files may not be looked at. */
export async function listenersOf(pids: readonly number[]): Promise<Listener[] | null> {
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
  return tables.flatMap(parseListeners).filter(({ inode }) => inodes.has(inode));
}

/** All processes of a unit share one network namespace; the first that still lives answers for all. */
async function networkTable(pids: readonly number[], name: string): Promise<string> {
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/net/${name}`, 'latin1').catch(() => null);
    if (text !== null) return text;
  }
  return '';
}
