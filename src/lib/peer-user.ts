/** Which user of this machine is at the other end of a TCP connection. */
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Of a connection, as its local end on this machine knows them. Without a local address any is taken. */
export type Ends = {
  readonly [End in 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort']?: Socket[End] | undefined;
};

/** Of a row of the kernel's tables whose socket no process has any more. */
const NO_INODE = '0';
const MAPPED = '0000000000000000FFFF0000';

/** `gone`: it was on this machine, and nobody has that end any more. Null where the other end is on another machine. Linux only. */
export async function peerUser(ends: Ends): Promise<number | 'gone' | null> {
  const { remoteAddress } = ends;
  if (remoteAddress === undefined) return null;
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'latin1').catch(() => '')),
  );
  for (const table of tables) {
    const uid = userIn(table, ends);
    if (uid !== null) return uid;
  }
  return isOfThisMachine(remoteAddress) ? 'gone' : null;
}

function isOfThisMachine(address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  if (plain === '::1' || plain.startsWith('127.')) return true;
  return Object.values(networkInterfaces()).some((list) => list?.some((own) => own.address === plain));
}

/**
 * Pure; null where none is found. The other end has as its own address what we see as the remote one, and reaches us at our address. One that
 * its end has half closed is still somebody's.
 */
export function userIn(
  table: string,
  { localAddress, localPort, remoteAddress = '', remotePort }: Ends,
): number | null {
  const theirs = `${addressText(remoteAddress)}:${hex(remotePort)}`;
  const ours = `${localAddress === undefined ? '' : addressText(localAddress)}:${hex(localPort)}`;
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', remote = '', , , , , uid = '', , inode] = line.trim().split(/\s+/);
    const isOurs = localAddress === undefined ? remote.endsWith(ours) : isEnd(remote, ours);
    if (inode !== NO_INODE && isEnd(local, theirs) && isOurs) return Number(uid);
  }
  return null;
}

/** IPv4 has a form in the table of IPv6, too. */
function isEnd(text: string, end: string): boolean {
  return text === end || text === `${MAPPED}${end}`;
}

function hex(port = 0): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}

/** As the kernel prints it: words of the machine's byte order, which is little-endian here. */
function addressText(address: string): string {
  const v4 = /(?:^|:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const bytes = v4 === null ? v6Bytes(address) : v4.slice(1).map(Number);
  const text = bytes.map((byte) => byte.toString(16).toUpperCase().padStart(2, '0'));
  return Array.from({ length: text.length / 4 }, (_, word) =>
    text
      .slice(word * 4, word * 4 + 4)
      .reverse()
      .join(''),
  ).join('');
}

function v6Bytes(address: string): number[] {
  const [head = '', tail = ''] = address.split('%')[0]?.split('::') ?? [];
  const words = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16));
  const [before, after] = [words(head), words(tail)];
  const all = [...before, ...Array<number>(Math.max(8 - before.length - after.length, 0)).fill(0), ...after];
  return all.flatMap((word) => [word >> 8, word & 0xff]);
}
