import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { TargetPool } from '../routing/target-pool.ts';

/** Whoever uses a connection to a unit at the moment: an exchange or a tunnel. */
export interface UnitUser {
  unitConnected(): void;
  /** Bytes [0, size) of `bytes`, lent until the call returns. */
  unitSent(bytes: Buffer, size: number): void;
  /** Everything written to the unit has left this process. */
  unitFlushed(): void;
  /** The unit has closed its sending side. */
  unitEnded(): void;
  /** The connection is gone. `error` is a system code, or null for an orderly close. */
  unitLost(error: string | null): void;
}

const BUFFER_BYTES = 65_536;
const MAX_UNSENT = 65_536;

/**
 * One connection to a unit. Reads into one buffer of its own that is used again for every read: while a client has not
 * taken a piece whole, nothing more is read (see pause), so the bytes never change under a pending write.
 */
export class UnitConnection {
  readonly pool: TargetPool;
  user: UnitUser | null;
  connected = false;
  closed = false;
  /** True once it serves a tunnel and no longer counts against the pool's limit. */
  detached = false;
  /** True when enough waits to be sent; unitFlushed() tells the end of it. */
  blocked = false;
  idleUntil = 0;
  idleSince = 0;
  readonly #socket: Socket;
  #error: string | null = null;
  readonly #written = (): void => {
    if (!this.blocked || this.#socket.writableLength > 0) return;
    this.blocked = false;
    this.user?.unitFlushed();
  };

  constructor(pool: TargetPool, user: UnitUser) {
    this.pool = pool;
    this.user = user;
    const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
    this.#socket = connect({
      host: pool.target.host,
      port: pool.target.port,
      noDelay: true,
      allowHalfOpen: true,
      onread: { buffer, callback: (size) => this.#read(buffer, size) },
    });
    this.#socket.on('connect', () => {
      this.connected = true;
      this.pool.connected(this);
      this.user?.unitConnected();
    });
    this.#socket.on('end', () => {
      if (this.user === null) this.destroy();
      else this.user.unitEnded();
    });
    this.#socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#error = error.code ?? 'EIO';
    });
    this.#socket.on('close', () => this.#close());
  }

  write(data: string | Buffer): void {
    if (typeof data === 'string') this.#socket.write(data, 'latin1', this.#written);
    else this.#socket.write(data, this.#written);
    if (this.#socket.writableLength > MAX_UNSENT) this.blocked = true;
  }

  cork(): void {
    this.#socket.cork();
  }

  uncork(): void {
    this.#socket.uncork();
  }

  /** No more reading until resume(); safe to call while handling unitSent. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Closes the sending side. */
  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #read(buffer: Buffer, size: number): boolean {
    if (this.user === null) this.destroy();
    else this.user.unitSent(buffer, size);
    return !this.#socket.isPaused();
  }

  #close(): void {
    this.closed = true;
    const user = this.user;
    this.user = null;
    this.pool.lost(this);
    user?.unitLost(this.#error);
  }
}
