import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type MailServer,
  type MailServerOptions,
  selfSigned,
  startMailServer,
} from '../../../../test/support/mail-server.ts';
import { skipFor } from '../../../../test/support/skips.ts';
import { SILENT } from '../../../lib/logger.ts';
import { mailerConformance } from '../conformance.ts';
import { createSmtpMailer, type SmtpOptions } from './smtp-mailer.ts';

const letter = { to: 'ann@example.com', subject: 's', text: 'secret-text\n' };
const common = { from: 'tancho@example.com', now: () => new Date(), logger: SILENT };

mailerConformance('smtp', async () => {
  const server = await startMailServer();
  const mailer = createSmtpMailer({ ...common, url: `smtp://127.0.0.1:${server.port}` });
  return { mailer, received: async () => server.letters, dispose: () => server.close() };
});

const servers: MailServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function against(options: MailServerOptions, url = 'smtp://127.0.0.1', more: Partial<SmtpOptions> = {}) {
  const server = await startMailServer(options);
  servers.push(server);
  const mailer = createSmtpMailer({ ...common, url: `${url}:${server.port}`, ...more });
  const error: unknown = await mailer.send(letter).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { server, error, reason: error instanceof Error && error.cause instanceof Error ? error.cause.message : '' };
}

describe('a mail server', () => {
  it('learns who sends and who receives, and no more than it needs', async () => {
    const { server, error } = await against({ abilities: [] });
    expect(error).toBeNull();
    expect(server.commands).toEqual([
      'EHLO [127.0.0.1]',
      'MAIL FROM:<tancho@example.com>',
      'RCPT TO:<ann@example.com>',
      'DATA',
    ]);
  });

  it('gets the password of the address, which is in no message', async () => {
    const abilities = ['AUTH PLAIN'];
    const good = await against({ abilities, login: 'me:p@ss word' }, 'smtp://me:p%40ss%20word@127.0.0.1');
    expect([good.error, good.server.letters.length]).toEqual([null, 1]);
    const bad = await against({ abilities, login: 'me:other' }, 'smtp://me:p%40ss%20word@127.0.0.1');
    expect(bad.error).toMatchObject({ code: 'unavailable' });
    expect(bad.reason).toMatch(/535 who are you/);
    expect(bad.reason).not.toContain('p@ss');
  });

  // Names may begin like an address of this machine, too; 127.1 is one that can be had without a name server.
  it('gets no password without encryption when it is not surely on this machine', async () => {
    const options = { abilities: ['AUTH PLAIN'], login: 'me:secret' };
    const { reason, server } = await against(options, 'smtp://me:secret@127.1');
    expect(reason).toMatch(/STARTTLS/);
    expect(server.commands.filter((command) => command.startsWith('AUTH'))).toEqual([]);
  });

  it.each([
    ['that does not speak SMTP', { EHLO: 'HTTP/1.1 400 Bad Request', HELO: 'HTTP/1.1 400 Bad Request' }, /HTTP/],
    ['that does not know the receiver', { RCPT: '550 unknown' }, /550 unknown/],
    ['that takes no letters', { DATA: '554 no' }, /554 no/],
  ])('%s makes sending unavailable', async (_what, answers, expected) => {
    const { error, reason, server } = await against({ answers });
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(reason).toMatch(expected);
    expect(String(error)).not.toContain('secret-text');
    expect(server.letters).toEqual([]);
  });

  it.each([
    ['is silent', { MAIL: '250-still thinking' }],
    ['does not end its answers', { EHLO: `250-${'x'.repeat(70_000)}` }],
  ])('that %s is given up in time', async (_what, answers) => {
    const { error } = await against({ answers }, undefined, { timeoutMs: 200 });
    expect(error).toMatchObject({ code: 'timeout' });
  });

  it('that answers without end is left when the time is over, so that it takes nothing later', async () => {
    const left = Promise.withResolvers<void>();
    const slow = createServer((socket) => {
      const timer = setInterval(() => socket.write('250-wait\r\n'), 20);
      socket.write('220 ready\r\n');
      socket.on('error', () => {}).on('close', () => (clearInterval(timer), left.resolve()));
      socket.resume();
    });
    await once(slow.listen(0, '127.0.0.1'), 'listening');
    const { port } = slow.address() as AddressInfo;
    const mailer = createSmtpMailer({ ...common, url: `smtp://127.0.0.1:${port}`, timeoutMs: 200 });
    await expect(mailer.send(letter)).rejects.toMatchObject({ code: 'timeout' });
    await left.promise;
    await new Promise((resolve) => slow.close(resolve));
  });

  it('that is not there is unavailable', async () => {
    const server = await startMailServer();
    await server.close();
    const mailer = createSmtpMailer({ ...common, url: `smtp://127.0.0.1:${server.port}` });
    await expect(mailer.send(letter)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is never given an address that could be more than one', async () => {
    const server = await startMailServer();
    servers.push(server);
    const mailer = createSmtpMailer({ ...common, url: `smtp://127.0.0.1:${server.port}` });
    for (const to of ['a>,<b@example.com', 'a\r\nDATA@example.com', 'a b@example.com', '"a"@example.com']) {
      await expect(mailer.send({ ...letter, to })).rejects.toMatchObject({ code: 'unavailable' });
    }
    expect(server.commands).toEqual([]);
  });
});

const certificate = selfSigned();

describe('encryption', skipFor(certificate === null && 'there is no openssl to make a certificate'), () => {
  const secure = { certificate: certificate ?? { key: '', cert: '' } };

  it('is refused to a server with a certificate that nobody vouches for, also without a password', async () => {
    const { error, reason, server } = await against({ ...secure, abilities: ['STARTTLS'] }, 'smtp://localhost');
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(reason).toMatch(/self.signed/);
    expect(server.commands).toEqual(['EHLO [127.0.0.1]', 'STARTTLS']);
  });

  it('begins as soon as it is offered', async () => {
    const authorities = { authorities: secure.certificate.cert };
    const { error, server } = await against({ ...secure, abilities: ['STARTTLS'] }, 'smtp://localhost', authorities);
    expect(error).toBeNull();
    expect(server.letters).toHaveLength(1);
    expect(server.commands.slice(0, 3)).toEqual(['EHLO [127.0.0.1]', 'STARTTLS', '*EHLO [127.0.0.1]']);
    expect(server.commands.slice(3).every((command) => command.startsWith('*'))).toBe(true);
  });

  it('is there from the first byte with smtps:', async () => {
    const authorities = { authorities: secure.certificate.cert };
    const { error, server } = await against({ ...secure, implicitTls: true }, 'smtps://localhost', authorities);
    expect(error).toBeNull();
    expect(server.commands.every((command) => command.startsWith('*'))).toBe(true);
  });
});
