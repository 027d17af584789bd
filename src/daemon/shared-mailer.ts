import path from 'node:path';
import type { Config } from '../config/config.ts';
import type { News } from '../domain/controls/news.ts';
import type { Store } from '../domain/store.ts';
import type { Mailer } from '../domain/users/mailer.ts';
import type { Logger } from '../lib/logger.ts';

/** Letters without a mail server are in the database where that is shared, for any server's disk may go. */
export async function sharedMailer(
  { mailUrl, databaseUrl, mailFrom: from, home }: Config,
  mailer: Mailer,
  { store, news, logger }: { readonly store: Store; readonly news: News; readonly logger: Logger },
): Promise<Mailer> {
  if (mailUrl !== null || databaseUrl === null) return mailer;
  const { createSharedOutbox } = await import('../backends/mailer/outbox/shared-outbox.ts');
  const directory = path.join(home, 'mail');
  return createSharedOutbox({ directory, from, now: () => new Date(), store, news, logger });
}
