/**
 * Whether a unit accepts connections. The kernel completes connections for a listener that hangs, too, until its queue is full. Who
 * closes its side when the client has closed its own has accepted, as nearly all servers do at once. Else the kernel's table shows it: those
 * that nobody has accepted yet are in there without an inode. To read it takes milliseconds of the processor, whatever it holds.
 */
import { readlink } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { ProbeResult } from '../../../domain/units/provisioner.ts';
import type { Address } from '../../../domain/units/unit.ts';
import { atMost } from '../../../lib/deadline.ts';
import { tcpTable } from '../../../lib/tcp-table.ts';

/** Whoever is slow closes before that; on a machine with too much to do looking would be one thing more. */
const FIRST_LOOK_MS = 1_000;
/** Of the time-out, where that is short. */
const FIRST_LOOK = 1 / 5;
const LONGEST_PAUSE_MS = 1_000;
/** A reading that is as young serves all who ask; whoever asks has been connected for longer than this. */
const READING_MS = 5;
/** More unanswered connections than these are not looked for. */
const MAX_WAITING = 64;
/** Of the tables of a unit's own network, some thirty thousand rows; who has more and does not close its side is not judged. */
const MOST_OWN_BYTES = 4 * 1024 * 1024;
/** Of those of the machine's. */
const MOST_BYTES = 32 * 1024 * 1024;

interface AcceptProbe {
  readonly address: Address;
  /** The unit's own port, where `address` is a door to it; null: they are the same. */
  readonly behind: number | null;
  readonly timeoutMs: number;
  /** Of the unit; its network is found by the first that lives. */
  readonly pids: () => Promise<readonly number[]>;
  readonly signal: AbortSignal;
  /** Before the first look at the table, and between two of them; by default a second, at most a fifth of the time-out, and a second. */
  readonly firstLookMs?: number;
  readonly longestPauseMs?: number;
}

/** Remembers the connections of earlier probes: when one of them was accepted since, the unit is late, and not hung. */
export class AcceptCheck {
  #waiting: readonly number[] = [];

  async probe(probe: AcceptProbe): Promise<ProbeResult> {
    const { address, timeoutMs, longestPauseMs = LONGEST_PAUSE_MS } = probe;
    const { firstLookMs = Math.min(FIRST_LOOK_MS, timeoutMs * FIRST_LOOK) } = probe;
    const deadline = performance.now() + timeoutMs;
    const socket = await open(probe);
    const local = socket?.localPort;
    let isClosed = false;
    let seen: ReadonlySet<number> = NOBODY;
    /** Looks without a result: the process that was asked about may just have ended. */
    let unread = 0;
    const closed = new Promise<void>((resolve) => {
      socket?.once('end', () => {
        isClosed = true;
        resolve();
      });
    });
    socket?.resume().end();
    try {
      for (let pause = firstLookMs; ; pause = Math.min(pause * 3, longestPauseMs)) {
        if (socket !== null) await atMost(pause, closed);
        if (probe.signal.aborted) return { kind: 'unknown' };
        if (isClosed) {
          this.#waiting = [];
          return { kind: 'well' };
        }
        const unaccepted = await unacceptedOf(await probe.pids(), probe.behind ?? address.port);
        if (unaccepted === null) {
          if (unread++ > 0) return { kind: 'unknown' };
          continue;
        }
        const isLate = this.#waiting.some((port) => !unaccepted.has(port));
        const isAccepted =
          probe.behind === null ? local !== undefined && !unaccepted.has(local) : unaccepted.size === 0;
        if (isLate || isAccepted) {
          this.#waiting = [];
          return { kind: 'well' };
        }
        seen = unaccepted;
        if (socket === null || performance.now() >= deadline) break;
      }
    } finally {
      socket?.destroy();
    }
    if (local === undefined) return { kind: 'unwell', detail: 'it takes no connections' };
    // What comes by a door has another port there, as many others have that nobody has accepted yet.
    this.#waiting = (probe.behind === null ? [...this.#waiting, local] : [...seen]).slice(-MAX_WAITING);
    return { kind: 'unwell', detail: `it accepted no connection within ${timeoutMs / 1000} seconds` };
  }
}

/** Null: no connection came about. */
function open({ address, timeoutMs, signal }: AcceptProbe): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect({ ...address, timeout: timeoutMs });
    const giveUp = (): void => {
      signal.removeEventListener('abort', giveUp);
      socket.destroy();
      resolve(null);
    };
    socket.once('timeout', giveUp);
    socket.once('error', giveUp);
    signal.addEventListener('abort', giveUp, { once: true });
    socket.once('connect', () => {
      signal.removeEventListener('abort', giveUp);
      // An end or an error from now on is an answer, too.
      socket.on('error', () => undefined).off('error', giveUp);
      socket.setTimeout(0);
      resolve(socket);
    });
  });
}

/** Clients' ports by the local port that they wait at. */
type Unaccepted = ReadonlyMap<number, ReadonlySet<number>>;

const NOBODY: ReadonlySet<number> = new Set();

/** Null when the kernel does not say, or says too much. */
async function unacceptedOf(pids: readonly number[], port: number): Promise<ReadonlySet<number> | null> {
  for (const pid of pids) {
    const found = await reading(pid).catch(() => undefined);
    if (found === null) return null;
    if (found !== undefined) return found.get(port) ?? NOBODY;
  }
  return null;
}

const readings = new Map<string, { readonly found: Promise<Unaccepted | null>; readonly at: number }>();

/** Units that are looked at together share one, where they share a network. */
async function reading(pid: number): Promise<Unaccepted | null> {
  const network = await readlink(`/proc/${pid}/ns/net`);
  const isOwn = network !== (await readlink('/proc/self/ns/net'));
  const now = performance.now();
  const known = readings.get(network);
  if (known !== undefined && now - known.at < READING_MS) return known.found;
  const found = readUnaccepted(`/proc/${pid}/net`, isOwn ? MOST_OWN_BYTES : MOST_BYTES);
  for (const [key, { at }] of readings) if (now - at > READING_MS) readings.delete(key);
  readings.set(network, { found, at: now });
  return found;
}

/** By the tables in a directory. Null: they are larger than that. */
export async function readUnaccepted(directory: string, mostBytes: number): Promise<Unaccepted | null> {
  const found: ReturnType<typeof parseUnaccepted> = new Map();
  let bytes = 0;
  for (const name of ['tcp', 'tcp6']) {
    for await (const rows of tcpTable(join(directory, name))) {
      bytes += rows.length;
      if (bytes > mostBytes) return null;
      parseUnaccepted(rows, found);
    }
  }
  return found;
}

/**
 * Local address, client's address, state; then, behind queues, timers and user, the inode: 0 where nobody has accepted it. State 03: the
 * kernel of a busy machine has not come to completing it.
 */
const ROW = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) (?:01|03|08) \S+ \S+ \S+ +\d+ +\d+ 0 /gm;

/** The connections among rows of the kernel's tables that come about, are established or closed by the client, and not accepted; put into `found`. */
export function parseUnaccepted(rows: string, found = new Map<number, Set<number>>()): Map<number, Set<number>> {
  for (const [, local = '', client = ''] of rows.matchAll(ROW)) {
    const port = Number.parseInt(local, 16);
    const clients = found.get(port) ?? new Set();
    found.set(port, clients.add(Number.parseInt(client, 16)));
  }
  return found;
}
