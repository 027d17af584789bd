/** One conversation with a mail server (RFC 5321): lines out, replies in. Knows no letters. */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** Encrypted from the first byte. */
  readonly implicitTls: boolean;
  /** Who vouches for its certificate (PEM); absent: those whom Node trusts. */
  readonly authorities?: string;
}

export interface Reply {
  readonly code: number;
  /** Text of each line. */
  readonly lines: readonly string[];
}

export class SmtpError extends Error {
  override readonly name = 'SmtpError';
}

const MAX_REPLY = 64 * 1024;

export class SmtpSession {
  #socket: Socket;
  readonly #server: SmtpServer;
  #received = '';
  #failure: Error | null = null;
  #wake: () => void = () => {};

  private constructor(socket: Socket, server: SmtpServer) {
    this.#socket = socket;
    this.#server = server;
    this.#listen(socket);
  }

  /** `signal` ends the conversation at any moment. Resolves after the greeting. */
  static async open(server: SmtpServer, signal: AbortSignal): Promise<SmtpSession> {
    const { host, port } = server;
    const socket = server.implicitTls
      ? connectTls({ host, port, ...secureOptions(server) })
      : connectTcp({ host, port });
    const session = new SmtpSession(socket, server);
    signal.addEventListener('abort', () => session.#fail(new SmtpError('The mail server took too long.')), {
      once: true,
    });
    try {
      await session.#reply('the greeting', [220]);
      return session;
    } catch (error) {
      session.close();
      throw error;
    }
  }

  /** Sends a line; throws SmtpError for a reply of another code than those. `shown` stands for it in errors. */
  async command(line: string, codes: readonly number[], shown = line.split(' ', 1)[0] ?? ''): Promise<Reply> {
    this.#socket.write(`${line}\r\n`);
    return this.#reply(shown, codes);
  }

  /** After the server's yes to STARTTLS: everything from here on is encrypted. Throws when the certificate is not good. */
  async encrypt(): Promise<void> {
    // What came before the encryption could be anybody's.
    if (this.#received !== '') throw new SmtpError('The mail server spoke out of turn.');
    const plain = this.#socket;
    plain.removeAllListeners('data').removeAllListeners('close');
    const socket = connectTls({ socket: plain, ...secureOptions(this.#server) });
    this.#socket = socket;
    let isSecure = false;
    socket.once('secureConnect', () => {
      isSecure = true;
      this.#wake();
    });
    this.#listen(socket);
    while (!isSecure) await this.#more();
  }

  /** How this machine is called in EHLO: its address, for a name of its own it may not have. */
  get self(): string {
    const address = this.#socket.localAddress ?? '127.0.0.1';
    return address.includes(':') ? `[IPv6:${address}]` : `[${address}]`;
  }

  close(): void {
    this.#socket.destroy();
  }

  #listen(socket: Socket): void {
    socket.on('data', (bytes: Buffer) => {
      this.#received += bytes.toString('latin1');
      if (this.#received.length > MAX_REPLY) this.#fail(new SmtpError('The reply of the mail server is too long.'));
      this.#wake();
    });
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new SmtpError('The mail server closed the connection.')));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#socket.destroy();
    this.#wake();
  }

  /** Resolves when something has happened. */
  async #more(): Promise<void> {
    if (this.#failure === null) await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#failure !== null) throw this.#failure;
  }

  async #reply(to: string, codes: readonly number[]): Promise<Reply> {
    const lines: string[] = [];
    for (;;) {
      const end = this.#received.indexOf('\n');
      if (end === -1) {
        await this.#more();
        continue;
      }
      const line = this.#received.slice(0, end).trimEnd();
      this.#received = this.#received.slice(end + 1);
      const [, digits, separator, text = ''] = /^(\d{3})([ -]?)(.*)$/.exec(line) ?? [];
      if (digits === undefined) throw new SmtpError('The mail server does not speak SMTP.');
      lines.push(text);
      if (separator === '-') continue;
      const code = Number(digits);
      if (codes.includes(code)) return { code, lines };
      throw new SmtpError(`The mail server answered ${to} with ${code} ${lines.join(' ').slice(0, 500)}`);
    }
  }
}

/** An address has no place in the name that TLS asks for; the certificate is then compared with the address itself. */
function secureOptions({ host, authorities }: SmtpServer): ConnectionOptions {
  return { host, ...(isIP(host) === 0 && { servername: host }), ...(authorities !== undefined && { ca: authorities }) };
}
