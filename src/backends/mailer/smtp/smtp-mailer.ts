/**
 * Hands letters to a mail server. One connection per letter: there are few of them. Encrypted whenever the server offers
 * it, and always before a password is sent to another machine.
 */
import { PlatformError } from '../../../domain/errors.ts';
import type { Mail, Mailer } from '../../../domain/users/mailer.ts';
import { bareHost, hostPort } from '../../../lib/host-port.ts';
import { randomHex } from '../../../lib/ids.ts';
import { isLoopbackHost } from '../../../lib/loopback-host.ts';
import type { Logger } from '../../../lib/logger.ts';
import { mailMessage } from '../../../lib/mail-message.ts';
import { SmtpError, type SmtpServer, SmtpSession } from './smtp-session.ts';

export interface SmtpOptions {
  /** `smtp://[user:password@]host[:port]`, or smtps: for encryption from the first byte. */
  readonly url: string;
  readonly from: string;
  readonly now: () => Date;
  readonly logger: Logger;
  readonly timeoutMs?: number;
  /** See SmtpServer. */
  readonly authorities?: string;
}

const TIMEOUT_MS = 30_000;
const PORTS: Readonly<Record<string, number>> = { 'smtp:': 25, 'smtps:': 465 };
/** No quoting, no comments, nothing that could end the address in a command. */
const PLAIN_ADDRESS = /^[^\s\p{C}<>()[\]\\,;:"@]+@[^\s\p{C}<>()[\]\\,;:"@]+$/u;

export function createSmtpMailer(options: SmtpOptions): Mailer {
  const { from, now, logger, timeoutMs = TIMEOUT_MS } = options;
  const url = new URL(options.url);
  const host = bareHost(url);
  const server: SmtpServer = {
    host,
    port: url.port === '' ? (PORTS[url.protocol] ?? 0) : Number(url.port),
    implicitTls: url.protocol === 'smtps:',
    ...(options.authorities !== undefined && { authorities: options.authorities }),
  };
  const login = { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };

  return {
    description: `the mail server ${url.hostname}:${server.port}`,
    async send(mail) {
      const timer = AbortSignal.timeout(timeoutMs);
      try {
        await deliver(mail, { server, login, from, now, signal: timer });
      } catch (error) {
        logger.error({ err: error, server: `${host}:${server.port}` }, 'a letter could not be sent');
        throw new PlatformError(timer.aborted ? 'timeout' : 'unavailable', 'The mail could not be sent.', {
          cause: error,
          hint: "The server's log says why; ask the operator.",
        });
      }
    },
  };
}

interface Delivery {
  readonly server: SmtpServer;
  readonly login: { readonly user: string; readonly password: string };
  readonly from: string;
  readonly now: () => Date;
  readonly signal: AbortSignal;
}

async function deliver(mail: Mail, { server, login, from, now, signal }: Delivery): Promise<void> {
  if (!PLAIN_ADDRESS.test(mail.to)) throw new SmtpError('The address cannot be used with a mail server.');
  const session = await SmtpSession.open(server, signal);
  try {
    let abilities = await hello(session);
    let isEncrypted = server.implicitTls;
    if (!isEncrypted && abilities.has('STARTTLS')) {
      await session.command('STARTTLS', [220]);
      await session.encrypt();
      abilities = await hello(session);
      isEncrypted = true;
    }
    if (login.user !== '') {
      if (!isEncrypted && !isLoopbackHost(hostPort(server))) {
        throw new SmtpError('The mail server offers no encryption, so the password is not sent to it.');
      }
      const secret = Buffer.from(`\0${login.user}\0${login.password}`).toString('base64');
      await session.command(`AUTH PLAIN ${secret}`, [235], 'AUTH');
    }
    const message = mailMessage({ ...mail, from, date: now(), id: randomHex(16) });
    const body = abilities.has('8BITMIME') ? ' BODY=8BITMIME' : '';
    const address = /^[\x21-\x7e]+$/.test(mail.to) ? '' : ' SMTPUTF8';
    await session.command(`MAIL FROM:<${from}>${body}${address}`, [250], 'MAIL');
    await session.command(`RCPT TO:<${mail.to}>`, [250, 251], 'RCPT');
    await session.command('DATA', [354]);
    // A line that is one dot would end the letter.
    await session.command(`${message.replace(/^\./gm, '..').replace(/\r\n$/, '')}\r\n.`, [250], 'the letter');
    await session.command('QUIT', [221]).catch(() => {});
  } finally {
    session.close();
  }
}

/** What the server can do, in capitals. */
async function hello(session: SmtpSession): Promise<ReadonlySet<string>> {
  const { lines } = await session.command(`EHLO ${session.self}`, [250]);
  return new Set(lines.slice(1).map((line) => (line.split(' ', 1)[0] ?? '').toUpperCase()));
}
