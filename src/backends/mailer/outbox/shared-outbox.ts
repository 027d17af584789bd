/**
 * Letters of several servers that know no mail server: each is a row before it counts as sent, and a file in the outbox of every server, so whichever an operator
 * looks at has all of them.
 */
import { mkdir, readdir } from 'node:fs/promises';
import { PlatformError } from '../../../domain/errors.ts';
import type { News } from '../../../domain/controls/news.ts';
import type { LetterReader, LetterWriter } from '../../../domain/users/letter-store.ts';
import type { Mailer } from '../../../domain/users/mailer.ts';
import { bestEffort, type Logger } from '../../../lib/logger.ts';
import { KEPT, type Letter, letterOf, type OutboxOptions, writeLetter } from './outbox-mailer.ts';

interface SharedOutboxOptions extends OutboxOptions {
  readonly store: LetterReader & { transact<T>(work: (tx: LetterWriter) => Promise<T>): Promise<T> };
  readonly news: News;
  readonly logger: Logger;
}

/** Letters that others have written are files soon after; those from before at the first look. */
export function createSharedOutbox(options: SharedOutboxOptions): Mailer {
  const { directory, store, news, logger, kept = KEPT } = options;

  /** What was a file once is not written again when an operator has removed it. */
  let seen = new Set<string>();

  async function copyMissing(): Promise<void> {
    const names = await store.letterNames();
    if (names.length === 0) return;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (const name of await readdir(directory)) seen.add(name);
    for (const name of names.filter((one) => !seen.has(one))) {
      const text = await store.letter(name);
      if (text !== null) await writeLetter(directory, { name, text }, kept);
    }
    seen = new Set(names);
  }

  const copying = (): Promise<void> => bestEffort(logger, 'writing the letters of other servers', copyMissing);
  let last = copying();
  news.on('letters', () => {
    last = last.then(copying);
  });

  return {
    description: `the database, and files in ${directory}`,
    async send(mail) {
      const letter: Letter = await letterOf(mail, options);
      try {
        await store.transact((tx) => tx.insertLetter(letter, kept));
      } catch (error) {
        throw new PlatformError('unavailable', 'The mail could not be sent.', {
          cause: error,
          hint: "The server's log says why; ask the operator.",
        });
      }
      news.publish('letters', '');
      last = last.then(copying);
      await last;
    },
  };
}
