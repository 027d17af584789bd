import type { Requester } from './requester.ts';
import type { ClientUser } from './client-user.ts';
import type { Plane } from './plane.ts';
import type { Closable } from '../routing/target-pool.ts';
import type { UnitConnection, UnitUser } from './unit-connection.ts';

/** After a switch of protocols: bytes both ways, unread, until either side is gone. */
export class Tunnel implements ClientUser, UnitUser, Closable {
  readonly endsByItself = false;
  readonly #plane: Plane;
  readonly #client: Requester;
  readonly #unit: UnitConnection;
  readonly #halfClosedMs: number;
  #clientHasEnded = false;
  #closed = false;

  constructor(plane: Plane, client: Requester, unit: UnitConnection, protocol: string) {
    const { halfClosedMs, stallMs } = plane.settings.timeouts;
    // Nothing is left to say to a websocket's client that has ended its side, though the unit may not notice.
    this.#halfClosedMs = protocol.toLowerCase() === 'websocket' ? halfClosedMs : stallMs;
    this.#plane = plane;
    this.#client = client;
    this.#unit = unit;
    unit.user = this;
    unit.pool.detach(unit, this);
    client.handTo(this);
    this.#touch();
  }

  get wantsBytes(): boolean {
    return this.#closed || !this.#unit.blocked;
  }

  clientSent(bytes: Buffer, from: number, end: number): number {
    if (!this.#closed) {
      this.#unit.write(bytes.subarray(from, end));
      this.#touch();
    }
    return end - from;
  }

  clientFlushed(): void {
    if (this.#closed) this.#linger();
    else this.#unit.resume();
  }

  clientEnded(): void {
    if (this.#closed) return;
    this.#unit.end();
    this.#clientHasEnded = true;
    this.#touch();
  }

  clientGone(): void {
    this.close();
  }

  unitConnected(): void {}

  unitSent(bytes: Buffer, size: number): void {
    this.forward(bytes.subarray(0, size));
  }

  /** Writes bytes of the unit to the client; they are lent until the client has taken them. */
  forward(bytes: Buffer): void {
    this.#client.write(bytes);
    if (this.#client.blocked) this.#unit.pause();
    this.#touch();
  }

  unitFlushed(): void {
    this.#client.pump();
  }

  unitEnded(): void {
    this.#client.endWriting();
    this.#client.arm(this.#plane.settings.timeouts.stallMs);
  }

  /** What the unit said last, a close frame as it should be, still goes to the client. */
  unitLost(): void {
    this.#letGoOfUnit();
    this.#client.endWriting();
    if (this.#client.blocked) this.#client.arm(this.#plane.settings.timeouts.stallMs);
    else this.#linger();
    this.#client.pump();
  }

  /** What the client still sends is read without looking: closing at once would make its kernel throw the last words away. */
  #linger(): void {
    this.#client.arm(this.#plane.settings.timeouts.lingerMs);
  }

  expire(): void {
    this.close();
  }

  cut(): void {
    this.close();
  }

  close(): void {
    this.#letGoOfUnit();
    this.#client.abort();
  }

  #letGoOfUnit(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#unit.user = null;
    this.#unit.destroy();
    this.#unit.pool.tunnelEnded(this);
  }

  #touch(): void {
    this.#client.arm(this.#clientHasEnded ? this.#halfClosedMs : this.#plane.settings.timeouts.silenceMs);
  }
}
