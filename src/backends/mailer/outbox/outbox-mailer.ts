/**
 * Letters as files for the operator to pass on: the mailer of a machine that knows no mail server. Keeps the newest; who
 * may read the folder may take over any account that just asked for a new password.
 */
import { chmod, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PlatformError } from '../../../domain/errors.ts';
import type { Mail, Mailer } from '../../../domain/users/mailer.ts';
import { randomHex } from '../../../lib/ids.ts';
import type { Logger } from '../../../lib/logger.ts';
import { letter } from '../letter.ts';

export interface OutboxOptions {
  /** Made when the first letter is written, mode 0700. */
  readonly directory: string;
  readonly from: string;
  readonly now: () => Date;
  readonly logger: Logger;
  /** Letters kept; the oldest go first. */
  readonly kept?: number;
}

export const KEPT = 500;
const LETTER = /^\d{8}T\d{9}Z-[0-9a-f]{16}\.eml$/;

export interface Letter {
  /** Sorts by time. */
  readonly name: string;
  readonly text: string;
}

export function createOutboxMailer(options: OutboxOptions): Mailer {
  const { directory, logger, kept = KEPT } = options;
  return {
    description: `files in ${directory}`,
    async send(mail) {
      const written = await letterOf(mail, options);
      try {
        await writeLetter(directory, written, kept);
      } catch (error) {
        logger.error({ err: error, directory }, 'a letter could not be written');
        throw new PlatformError('unavailable', 'The mail could not be sent.', {
          cause: error,
          hint: "The server's log says why; ask the operator.",
        });
      }
      logger.info(
        { file: join(directory, written.name) },
        'a letter was put into the outbox, for no mail server is configured',
      );
    },
  };
}

export async function letterOf(mail: Mail, { from, now }: Pick<OutboxOptions, 'from' | 'now'>): Promise<Letter> {
  const date = now();
  const id = randomHex(16);
  const bytes = await message(letter(mail, { from, date, id }));
  return { name: `${date.toISOString().replace(/[-:.]/g, '')}-${id}.eml`, text: bytes.toString() };
}

export async function writeLetter(directory: string, { name, text }: Letter, kept: number): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
  const aside = join(directory, `.${name}`);
  const handle = await open(aside, 'wx', 0o600);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
  await rename(aside, join(directory, name));
  const letters = (await readdir(directory)).filter((other) => LETTER.test(other)).sort();
  for (const old of letters.slice(0, Math.max(0, letters.length - kept)))
    await rm(join(directory, old), { force: true });
}

/** As it would travel (RFC 5322). */
async function message(content: ReturnType<typeof letter>): Promise<Buffer> {
  // Loaded with the first letter: most servers never write one.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const { message: bytes } = await transport.sendMail(content);
  if (!Buffer.isBuffer(bytes)) throw new Error('A letter was composed as a stream.');
  return bytes;
}
