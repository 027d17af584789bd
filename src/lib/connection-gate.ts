/**
 * How many connections a listener holds. One that waits, with no request under way and nobody known at its other end, makes room for a
 * new one when there are too many: so nobody keeps others out by opening connections and saying nothing on them, nor with websockets.
 */
import { readFileSync } from 'node:fs';
import { plainAddress } from './forwarded-header.ts';
import { addressGroup } from './trusted-proxies.ts';

export interface GatedConnection {
  /** Nothing is lost but time when it is closed. */
  readonly isWaiting: boolean;
  /** It may stay for ever, as a websocket does; absent: no. Where nobody waits, one of the address with most connections makes room for another address. */
  readonly isLasting?: boolean;
  close(): void;
}

/** So many make room at once. */
const BATCH = 32;

interface Member {
  readonly connection: GatedConnection;
  readonly leave: () => void;
}

export class ConnectionGate {
  readonly #most: number;
  readonly #mostPerAddress: number;
  readonly #byAddress = new Map<string, Set<Member>>();
  #size = 0;

  constructor(limits: { readonly most: number; readonly mostPerAddress: number }) {
    this.#most = limits.most;
    this.#mostPerAddress = limits.mostPerAddress;
  }

  /**
   * Lets a connection in, and returns what to call once it is gone; null when there is no room and none can be made. `address` null: of
   * somebody trusted, who has no limit but the common one, and makes room for nobody.
   */
  enter(address: string | null, connection: GatedConnection): (() => void) | null {
    if (address === null) return this.#hasRoom(0) ? this.#counted() : null;
    const group = addressGroup(plainAddress(address));
    const known = this.#byAddress.get(group);
    if (known !== undefined && known.size >= this.#mostPerAddress && makeRoom(known, 1) === 0) return null;
    if (!this.#hasRoom(known?.size ?? 0)) return null;
    const members = this.#byAddress.get(group) ?? new Set();
    const uncount = this.#counted();
    const member: Member = {
      connection,
      leave: () => {
        uncount();
        members.delete(member);
        if (members.size === 0 && this.#byAddress.get(group) === members) this.#byAddress.delete(group);
      },
    };
    this.#byAddress.set(group, members.add(member));
    return member.leave;
  }

  /** Counts one more; the returned function takes it back, once. */
  #counted(): () => void {
    let isIn = true;
    this.#size++;
    return () => {
      if (isIn) this.#size--;
      isIn = false;
    };
  }

  /** Where there is none, those make it who have most. `known`: how many connections the address has that asks for it. */
  #hasRoom(known: number): boolean {
    if (this.#size < this.#most) return true;
    const byNumber = [...this.#byAddress.values()].sort((left, right) => right.size - left.size);
    let closed = 0;
    for (const members of byNumber) {
      closed += makeRoom(members, BATCH - closed);
      if (closed === BATCH) break;
    }
    const [crowd] = byNumber;
    if (closed === 0 && crowd !== undefined && crowd.size > known + 1)
      closed = makeRoom(crowd, 1, ({ isLasting }) => isLasting === true);
    return closed > 0;
  }
}

/** Closes the oldest of those that may be closed; how many. They count no more, though their ends come later. */
function makeRoom(
  members: ReadonlySet<Member>,
  most: number,
  mayClose = ({ isWaiting }: GatedConnection): boolean => isWaiting,
): number {
  let closed = 0;
  for (const { connection, leave } of members) {
    if (closed === most) break;
    if (!mayClose(connection)) continue;
    connection.close();
    leave();
    closed++;
  }
  return closed;
}

/** How many files this process may have open; Infinity where the system does not say. */
export function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +([0-9]+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
