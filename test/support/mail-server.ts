/** A small real mail server: takes letters for example.com over SMTP, with or without encryption. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';

export interface MailServerOptions {
  readonly abilities?: readonly string[];
  /** `user:password`; absent: nobody can log in. */
  readonly login?: string;
  /** For TLS; with STARTTLS among the abilities, or from the first byte. */
  readonly certificate?: Certificate;
  readonly implicitTls?: boolean;
  /** Answers instead of the usual ones, by command. */
  readonly answers?: Readonly<Record<string, string>>;
}

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface MailServer {
  readonly port: number;
  readonly letters: readonly string[];
  /** Every command, as it came; `*` before those that came encrypted. */
  readonly commands: readonly string[];
  close(): Promise<void>;
}

/** For localhost, signed by itself. Null where there is no openssl. */
export function selfSigned(): Certificate | null {
  const folder = mkdtempSync(join(tmpdir(), 'tancho-cert-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  try {
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const files = ['-keyout', key, '-out', cert, '-days', '2'];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    execFileSync('openssl', ['req', '-x509', ...curve, ...files, ...subject], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } catch {
    return null;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const letters: string[] = [];
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const talk = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.write('220 mail.example.com ready\r\n');
    converse(socket, socket instanceof TLSSocket, { options, letters, commands });
  };
  const server = options.implicitTls === true ? createTlsServer({ ...options.certificate }, talk) : createServer(talk);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    letters,
    commands,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

interface Desk {
  readonly options: MailServerOptions;
  readonly letters: string[];
  readonly commands: string[];
}

function converse(socket: Socket, isEncrypted: boolean, desk: Desk): void {
  const { options, letters, commands } = desk;
  let rest = '';
  let letter: string[] | null = null;
  const line = (text: string): void => {
    if (letter !== null) {
      if (text !== '.') return void letter.push(text.startsWith('.') ? text.slice(1) : text);
      letters.push(Buffer.from(`${letter.join('\r\n')}\r\n`, 'latin1').toString('utf8'));
      letter = null;
      return void socket.write('250 taken\r\n');
    }
    commands.push(`${isEncrypted ? '*' : ''}${text}`);
    const word = (text.split(' ', 1)[0] ?? '').toUpperCase();
    const answer = options.answers?.[word] ?? usual(word, text, isEncrypted, options);
    socket.write(`${answer}\r\n`);
    if (word === 'DATA') letter = [];
    if (word === 'QUIT') socket.end();
    if (word === 'STARTTLS' && answer.startsWith('220')) {
      socket.removeAllListeners('data');
      const secure = new TLSSocket(socket, { isServer: true, ...options.certificate });
      secure.on('error', () => {});
      converse(secure, true, desk);
    }
  };
  socket.on('data', (bytes: Buffer) => {
    const lines = (rest + bytes.toString('latin1')).split('\r\n');
    rest = lines.pop() ?? '';
    for (const one of lines) line(one);
  });
}

function usual(word: string, text: string, isEncrypted: boolean, options: MailServerOptions): string {
  switch (word) {
    case 'EHLO': {
      const abilities = (options.abilities ?? ['8BITMIME']).filter((name) => !(isEncrypted && name === 'STARTTLS'));
      return ['mail.example.com', ...abilities]
        .map((name, at) => `250${at === abilities.length ? ' ' : '-'}${name}`)
        .join('\r\n');
    }
    case 'STARTTLS':
      return options.certificate === undefined ? '454 no' : '220 go on';
    case 'AUTH': {
      const [, user = '', password = ''] = Buffer.from(text.split(' ')[2] ?? '', 'base64')
        .toString()
        .split('\0');
      return `${user}:${password}` === options.login ? '235 welcome' : '535 who are you';
    }
    case 'RCPT':
      return text.endsWith('@example.com>') ? '250 fine' : '550 no such user';
    case 'DATA':
      return '354 go on';
    case 'QUIT':
      return '221 bye';
    default:
      return '250 fine';
  }
}
