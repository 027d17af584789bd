import type { Socket } from 'node:net';
import type { Server } from 'node:tls';
import { type ClientHello, HELLO_BAD, HELLO_MORE, parseClientHello } from '../../lib/client-hello.ts';
import type { GatedConnection } from '../../lib/connection-gate.ts';
import { HEAD_BAD, HEAD_MORE } from '../http/head-reader.ts';
import type { ClientPeer } from '../proxy/client-peer.ts';
import type { Watched } from '../proxy/deadlines.ts';
import type { Plane } from '../proxy/plane.ts';

interface GreetingUser {
  /** The server that the connection is for; an alert for the client where there is none. */
  serverFor(hello: ClientHello): Server | Buffer;
  /** The client speaks no TLS; `bytes` is what it said. */
  notTls(socket: Socket, bytes: Buffer): void;
}

/**
 * A connection from its beginning until its TLS handshake is done: reads what the client asks for, and gives the connection, with what
 * has been read, to the server that has the certificate.
 */
export class Greeting implements Watched, GatedConnection {
  deadline: number;
  readonly peer: ClientPeer;
  /** What the connection has become; null until the handshake is done. */
  client: GatedConnection | null = null;
  readonly #plane: Plane;
  readonly #socket: Socket;
  readonly #user: GreetingUser;
  #bytes: Buffer | null = null;
  readonly #read = (chunk: Buffer): void => this.#receive(chunk);

  constructor(plane: Plane, socket: Socket, peer: ClientPeer, user: GreetingUser) {
    this.#plane = plane;
    this.#socket = socket;
    this.#user = user;
    this.peer = peer;
    this.deadline = plane.deadlines.after(plane.settings.timeouts.firstByteMs);
    plane.deadlines.watch(this);
    socket.on('data', this.#read);
    // The reason does not matter: 'close' follows.
    socket.on('error', () => {});
    socket.once('end', () => {
      if (this.client === null) socket.destroy();
    });
    socket.once('close', () => plane.deadlines.forget(this));
  }

  get isWaiting(): boolean {
    return this.client === null ? !this.#socket.destroyed : this.client.isWaiting;
  }

  get isLasting(): boolean {
    return this.client?.isLasting === true;
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Neither the greeting nor the handshake may take for ever. */
  expire(): void {
    this.#socket.destroy();
  }

  /** The handshake is done. */
  becomes(client: GatedConnection): void {
    this.client = client;
    this.#plane.deadlines.forget(this);
  }

  #receive(chunk: Buffer): void {
    if (this.#bytes === null) this.deadline = this.#plane.deadlines.after(this.#plane.settings.timeouts.headMs);
    let bytes = this.#bytes === null ? chunk : Buffer.concat([this.#bytes, chunk]);
    if (this.peer.owesHeader) {
      const stop = this.peer.readHeader(chunk, 0, chunk.length);
      if (stop === HEAD_BAD) this.#socket.destroy();
      this.#bytes = Buffer.alloc(0);
      if (stop === HEAD_MORE || stop === HEAD_BAD) return;
      bytes = chunk.subarray(stop);
    }
    this.#bytes = bytes;
    if (bytes.length === 0) return;
    const hello = parseClientHello(bytes);
    if (hello === HELLO_MORE) return;
    this.#socket.off('data', this.#read);
    this.#socket.pause();
    this.#bytes = null;
    if (hello === HELLO_BAD) this.#user.notTls(this.#socket, bytes);
    else this.#pass(this.#user.serverFor(hello), bytes);
  }

  #pass(server: Server | Buffer, bytes: Buffer): void {
    if (Buffer.isBuffer(server)) {
      this.#socket.end(server);
      this.#socket.resume();
      return;
    }
    this.#socket.unshift(bytes);
    server.emit('connection', this.#socket);
  }
}
