/** Letters through the machine's own mail system, by its `sendmail` program. */
import { PlatformError } from '../../src/domain/errors.ts';
import type { Mailer } from '../../src/domain/users/mailer.ts';
import { letter } from '../../src/backends/mailer/letter.ts';
import { inTime } from '../../src/lib/deadline.ts';
import { randomHex } from '../../src/lib/ids.ts';

export interface SendmailOptions {
  /** Absolute path of the program. */
  readonly program: string;
  /** An address. */
  readonly from: string;
}

const SEND_MS = 30_000;

export function createSendmailMailer({ program, from }: SendmailOptions): Mailer {
  return {
    description: `the program ${program}`,
    async send(mail) {
      // Loaded with the first letter: most servers never write one.
      const { createTransport } = await import('nodemailer');
      const transport = createTransport({ sendmail: true, path: program, newline: 'windows' });
      const sent = transport.sendMail(letter(mail, { from, date: new Date(), id: randomHex(16) }));
      try {
        await inTime(SEND_MS, sent, () => new PlatformError('timeout', `${program} does not take the mail.`));
      } catch (error) {
        if (error instanceof PlatformError) throw error;
        throw new PlatformError('unavailable', 'The mail could not be sent.', {
          cause: error,
          hint: `Ask the operator whether ${program} works.`,
        });
      }
    },
  };
}
