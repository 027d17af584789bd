import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { ListenerProof } from '../routing/listener-proof.ts';
import type { TargetPool } from '../routing/target-pool.ts';

/** Whoever uses a connection to a unit at the moment: an exchange or a tunnel. */
export interface UnitUser {
  unitConnected(): void;
  /** Bytes [0, size) of `bytes`, lent until the call returns; the memory before them is lent as well, to be written to. */
  unitSent(bytes: Buffer, size: number): void;
  /** Everything written to the unit has left this process. */
  unitFlushed(): void;
  /** The unit has closed its sending side. */
  unitEnded(): void;
  /** The connection is gone. `error` is a system code, or null for an orderly close. */
  unitLost(error: string | null): void;
  /** The group of a client's address while that does not take what has come for it. */
  readonly heldUpBy?: string | null;
  /** Ends it: others need the connection. */
  giveWay?(): void;
}

/** What is as large as most send at once is read with its head, not in two pieces. */
const BUFFER_BYTES = 81_920;
/** What a head has more for a client than it came with from the unit, and some. */
const HEADROOM_BYTES = 1_024;
const MAX_UNSENT = 65_536;
const ATTEMPTS = 2;

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
  /** True when enough waits to be sent; unitFlushed() reports the end of it. */
  blocked = false;
  idleUntil = 0;
  idleSince = 0;
  /** Null while it is not known yet whether the unit is there. */
  #socket: Socket | null = null;
  #error: string | null = null;
  readonly #written = (): void => {
    if (!this.blocked || (this.#socket?.writableLength ?? 0) > 0) return;
    this.blocked = false;
    this.user?.unitFlushed();
  };

  constructor(pool: TargetPool, user: UnitUser) {
    this.pool = pool;
    this.user = user;
    if (pool.proof === null) this.#open(() => this.#made());
    else void this.#openProven(pool.proof, ATTEMPTS);
  }

  #open(onConnect: () => void): void {
    const { host, port } = this.pool.target;
    const buffer = Buffer.allocUnsafeSlow(HEADROOM_BYTES + BUFFER_BYTES).subarray(HEADROOM_BYTES);
    const onread = { buffer, callback: (size: number) => this.#read(buffer, size) };
    const at = host.startsWith('/') ? { path: host } : { host, port, noDelay: true };
    const socket = connect({ ...at, allowHalfOpen: true, onread });
    this.#socket = socket;
    socket.on('connect', onConnect);
    socket.on('end', () => {
      if (this.user === null || !this.connected) this.destroy();
      else this.user.unitEnded();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#error = error.code ?? 'EIO';
    });
    // One that was given up for another is no end.
    socket.on('close', () => this.#socket === socket && this.#close());
  }

  /** Nothing is sent to whoever may be somebody else than the unit. A unit may have begun to listen anew, so it is asked once more. */
  async #openProven(proof: ListenerProof, attempts: number): Promise<void> {
    try {
      const proven = await proof.before();
      if (this.closed) return;
      if (proven === null) return this.#fail('ECONNREFUSED');
      this.#open(() => void this.#judge(proof, proven, attempts));
    } catch (error) {
      this.#fail((error as NodeJS.ErrnoException).code ?? 'EIO');
    }
  }

  async #judge(proof: ListenerProof, proven: string, attempts: number): Promise<void> {
    try {
      const isProven = await proof.isStill(proven);
      if (this.closed || this.#socket?.destroyed !== false) return;
      if (isProven) return this.#made();
      if (attempts === 1) return this.#fail('ECONNREFUSED');
      const stranger = this.#socket;
      this.#socket = null;
      stranger.destroy();
      await this.#openProven(proof, attempts - 1);
    } catch (error) {
      this.#fail((error as NodeJS.ErrnoException).code ?? 'EIO');
    }
  }

  #made(): void {
    this.connected = true;
    this.pool.connected(this);
    this.user?.unitConnected();
  }

  #fail(code: string): void {
    this.#error = code;
    this.destroy();
  }

  write(data: string | Buffer): void {
    const socket = this.#socket;
    if (socket === null) return;
    if (typeof data === 'string') socket.write(data, 'latin1', this.#written);
    else socket.write(data, this.#written);
    if (socket.writableLength > MAX_UNSENT) this.blocked = true;
  }

  cork(): void {
    this.#socket?.cork();
  }

  uncork(): void {
    this.#socket?.uncork();
  }

  /** No more reading until resume(); safe to call while handling unitSent. */
  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  /** Closes the sending side. */
  end(): void {
    this.#socket?.end();
  }

  destroy(): void {
    if (this.#socket === null) this.#close();
    else this.#socket.destroy();
  }

  #read(buffer: Buffer, size: number): boolean {
    // Whoever speaks before it is asked anything has no place among the answers.
    if (this.user === null || !this.connected) this.destroy();
    else this.user.unitSent(buffer, size);
    return this.#socket?.isPaused() === false;
  }

  #close(): void {
    if (this.closed) return;
    this.closed = true;
    const user = this.user;
    this.user = null;
    this.pool.lost(this);
    user?.unitLost(this.#error);
  }
}
