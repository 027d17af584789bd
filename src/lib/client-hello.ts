/** What a TLS client asks for before anything is encrypted: enough to decide which certificate it gets, or that there is none for it. */
export interface ClientHello {
  /** Lower case, without a trailing dot; null when the client names no server. */
  readonly serverName: string | null;
  /** What it offers by ALPN, in its order of preference; empty when it offers nothing. */
  readonly protocols: readonly string[];
}

/** What has come is no whole greeting yet. */
export const HELLO_MORE = 'more';
/** What has come is not how a TLS connection begins. */
export const HELLO_BAD = 'bad';

/** A fatal alert of this description (RFC 8446 section 6.2), as the one record that is sent before a handshake has begun. */
export function fatalAlert(description: number): Buffer {
  return Buffer.from([21, 3, 3, 0, 2, 2, description]);
}

export const UNRECOGNIZED_NAME = 112;

const HANDSHAKE_RECORD = 22;
const RECORD_HEAD = 5;
const MAX_RECORD = 16_384;
/** No client sends more; keys for key exchanges to come take a few kilobytes. */
const MAX_HELLO = 65_536;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const ALPN = 16;
const HOST_NAME = /^[a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_-])?$/;

/** Reads the greeting from all bytes that have come of a connection. */
export function parseClientHello(bytes: Buffer): ClientHello | typeof HELLO_MORE | typeof HELLO_BAD {
  const message = handshakeMessage(bytes);
  if (typeof message === 'string') return message;
  try {
    return readHello(new Reader(message));
  } catch (error) {
    if (error instanceof RangeError) return HELLO_BAD;
    throw error;
  }
}

/** The body of the first handshake message, which may come in several records. */
function handshakeMessage(bytes: Buffer): Buffer | typeof HELLO_MORE | typeof HELLO_BAD {
  const parts: Buffer[] = [];
  let size = 0;
  for (let at = 0; ;) {
    const needed = parts.length === 0 ? null : messageSize(parts);
    if (needed !== null && size >= needed) return Buffer.concat(parts).subarray(4, needed);
    if (at < bytes.length && bytes[at] !== HANDSHAKE_RECORD) return HELLO_BAD;
    if (at + 1 < bytes.length && bytes[at + 1] !== 3) return HELLO_BAD;
    if (at + RECORD_HEAD > bytes.length) return HELLO_MORE;
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > MAX_RECORD || size + length > MAX_HELLO) return HELLO_BAD;
    if (parts.length === 0 && at + RECORD_HEAD < bytes.length && bytes[at + RECORD_HEAD] !== CLIENT_HELLO)
      return HELLO_BAD;
    if (at + RECORD_HEAD + length > bytes.length) return HELLO_MORE;
    parts.push(bytes.subarray(at + RECORD_HEAD, at + RECORD_HEAD + length));
    size += length;
    at += RECORD_HEAD + length;
  }
}

/** With its own head of four bytes; null while even that is cut. */
function messageSize(parts: readonly Buffer[]): number | null {
  const head = Buffer.concat(parts.slice(0, 4)).subarray(0, 4);
  return head.length < 4 ? null : 4 + head.readUIntBE(1, 3);
}

function readHello(hello: Reader): ClientHello {
  // The legacy version and the random.
  hello.skip(34);
  hello.vector(1);
  hello.vector(2);
  hello.vector(1);
  let serverName: string | null = null;
  let protocols: readonly string[] = [];
  const extensions = hello.isAtEnd ? null : hello.vector(2);
  while (extensions?.isAtEnd === false) {
    const type = extensions.number(2);
    const data = extensions.vector(2);
    if (type === SERVER_NAME) serverName = readServerName(data);
    else if (type === ALPN) protocols = readProtocols(data);
  }
  return { serverName, protocols };
}

function readServerName(data: Reader): string | null {
  const names = data.vector(2);
  while (!names.isAtEnd) {
    const type = names.number(1);
    const name = names.vector(2).text().toLowerCase().replace(/\.$/, '');
    if (type === 0) return HOST_NAME.test(name) ? name : null;
  }
  return null;
}

function readProtocols(data: Reader): readonly string[] {
  const list = data.vector(2);
  const names: string[] = [];
  while (!list.isAtEnd) names.push(list.vector(1).text());
  return names;
}

/** Throws RangeError where the bytes end too early. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  skip(size: number): void {
    this.#take(size);
  }

  number(size: number): number {
    return this.#take(size).readUIntBE(0, size);
  }

  /** A stretch that begins with its length, a number of `size` bytes. */
  vector(size: number): Reader {
    return new Reader(this.#take(this.number(size)));
  }

  text(): string {
    return this.#bytes.toString('latin1');
  }

  #take(size: number): Buffer {
    if (this.#at + size > this.#bytes.length) throw new RangeError('the greeting is cut short');
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }
}
