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
import { letter } from '../letter.ts';

export interface SmtpOptions {
  /** `smtp://[user:password@]host[:port]`, or smtps: for encryption from the first byte. */
  readonly url: string;
  readonly from: string;
  readonly now: () => Date;
  readonly logger: Logger;
  readonly timeoutMs?: number;
  /** Who vouches for its certificate (PEM); absent: those whom Node trusts. */
  readonly authorities?: string;
}

/** For the whole letter: a server may look into it at the end before it takes it, and one that is given up then may have it all the same. Less than clients wait for an answer. */
const TIMEOUT_MS = 55_000;
/** Until the server has said that it is there. */
const GREETING_MS = 30_000;
const PORTS: Readonly<Record<string, number>> = { 'smtp:': 25, 'smtps:': 465 };
/** No quoting, no comments, nothing that could end the address in a command. */
const PLAIN_ADDRESS = /^[^\s\p{C}<>()[\]\\,;:"@]+@[^\s\p{C}<>()[\]\\,;:"@]+$/u;

export function createSmtpMailer(options: SmtpOptions): Mailer {
  const { from, now, logger, timeoutMs = TIMEOUT_MS, authorities } = options;
  const url = new URL(options.url);
  const host = bareHost(url);
  const port = url.port === '' ? (PORTS[url.protocol] ?? 0) : Number(url.port);
  const user = decodeURIComponent(url.username);
  const server = {
    host,
    port,
    secure: url.protocol === 'smtps:',
    ...(user !== '' && { auth: { user, pass: decodeURIComponent(url.password) } }),
    requireTLS: user !== '' && !isLoopbackHost(hostPort({ host, port })),
    tls: authorities === undefined ? {} : { ca: authorities },
    connectionTimeout: Math.min(timeoutMs, GREETING_MS),
    greetingTimeout: Math.min(timeoutMs, GREETING_MS),
    socketTimeout: timeoutMs,
  };

  async function deliver(mail: Mail, signal: AbortSignal): Promise<void> {
    if (!PLAIN_ADDRESS.test(mail.to)) throw new Error('The address cannot be used with a mail server.');
    // Loaded with the first letter: most servers never send one.
    const { createTransport } = await import('nodemailer');
    const transport = createTransport(server);
    const late = new Promise<never>((_, reject) => {
      const end = (): void => reject(new Error('The mail server took too long.'));
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    });
    try {
      // The signal ends the connection, so that nothing is taken any more that is said not to be sent.
      const content = { ...letter(mail, { from, date: now(), id: randomHex(16) }), signal };
      await Promise.race([transport.sendMail(content), late]);
    } finally {
      transport.close();
    }
  }

  return {
    description: `the mail server ${url.hostname}:${port}`,
    async send(mail, unwanted) {
      const late = AbortSignal.timeout(timeoutMs);
      const signal = unwanted === undefined ? late : AbortSignal.any([late, unwanted]);
      try {
        await deliver(mail, signal);
      } catch (error) {
        logger.error({ err: error, server: `${host}:${port}` }, 'a letter could not be sent');
        throw new PlatformError(
          signal.aborted || isTimeout(error) ? 'timeout' : 'unavailable',
          'The mail could not be sent.',
          {
            cause: error,
            hint: "The server's log says why; ask the operator.",
          },
        );
      }
    },
  };
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ETIMEDOUT';
}
