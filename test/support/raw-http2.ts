/** A client of HTTP/2 that sends frames of its own, and does nothing by itself. */
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { until } from './until.ts';

/** GET https://blog.test/, packed. */
export const HEADERS = Buffer.concat([Buffer.from([0x82, 0x87, 0x84, 0x41, 9]), Buffer.from('blog.test')]);
/** Of a client that takes no body before it says so. */
export const NO_WINDOW = Buffer.from([0, 4, 0, 0, 0, 0]);
const [RESET, SETTINGS, GOAWAY] = [3, 4, 7];
/** As a last stream: any that the client may still have sent. */
const MOST_STREAMS = 2 ** 31 - 1;
const ACK = 1;
const END_STREAM = 1;

export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

export class RawHttp2 {
  readonly socket: TLSSocket;
  /** Numbers of streams. */
  readonly asked: number[] = [];
  readonly answered: number[] = [];
  /** Whose answer has begun. */
  readonly headed: number[] = [];
  /** Given up by the server. */
  readonly reset: number[] = [];
  /** The last stream that the server says to have seen; Infinity before it says so. */
  lastSeen = Number.POSITIVE_INFINITY;
  isClosed = false;
  #bytes = Buffer.alloc(0);

  private constructor(socket: TLSSocket, settings: Buffer) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('close', () => (this.isClosed = true));
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS, 0, 0, settings)]));
  }

  /** `settings`: of the client, as they go over the wire. */
  static async connect(port: number, settings: Buffer = Buffer.alloc(0)): Promise<RawHttp2> {
    const how = { host: '127.0.0.1', port, servername: 'blog.test', rejectUnauthorized: false };
    const socket = connect({ ...how, ALPNProtocols: ['h2'] });
    await once(socket, 'secureConnect');
    return new RawHttp2(socket, settings);
  }

  /** The server takes no more requests, and has said which was the last one. */
  get isLeft(): boolean {
    return this.lastSeen < MOST_STREAMS;
  }

  /** The number of the stream. */
  ask(): number {
    const number = 2 * this.asked.length + 1;
    this.asked.push(number);
    this.socket.write(frame(1, 5, number, HEADERS));
    return number;
  }

  has(holds: (client: this) => boolean, what: string): Promise<void> {
    return until(() => Promise.resolve(holds(this)), { timeoutMs: 120_000, everyMs: 1, what });
  }

  #receive(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    while (this.#bytes.length >= 9) {
      const end = 9 + this.#bytes.readUIntBE(0, 3);
      if (this.#bytes.length < end) return;
      this.#take(this.#bytes.subarray(0, end));
      this.#bytes = this.#bytes.subarray(end);
    }
  }

  #take(bytes: Buffer): void {
    const [type = 0, flags = 0] = bytes.subarray(3, 5);
    if (type === 1) this.headed.push(bytes.readUInt32BE(5));
    if (type <= 1 && (flags & END_STREAM) !== 0) this.answered.push(bytes.readUInt32BE(5));
    if (type === RESET) this.reset.push(bytes.readUInt32BE(5));
    if (type === SETTINGS && (flags & ACK) === 0) this.socket.write(frame(SETTINGS, ACK, 0));
    if (type === GOAWAY) this.lastSeen = Math.min(this.lastSeen, bytes.readUInt32BE(9));
  }
}
