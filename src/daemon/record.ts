/** The store as everything uses it: what is committed in it is recorded, and who is to know of it is notified. */
import { notifyingAfterCommit } from '../domain/audit/after-commit.ts';
import { Audit } from '../domain/audit/audit.ts';
import { AuditLog } from '../domain/audit/audit-log.ts';
import { type News, NO_NEWS } from '../domain/controls/news.ts';
import type { PlatformCounters } from '../domain/metrics/platform-counters.ts';
import type { Store } from '../domain/store.ts';
import { WebhookDeliveries } from '../domain/webhooks/webhook-deliveries.ts';
import type { WebhookSender } from '../domain/webhooks/webhook-sender.ts';
import type { Logger } from '../lib/logger.ts';

interface Recording {
  readonly store: Store;
  readonly audit: Audit;
  readonly auditLog: AuditLog;
  readonly webhookDeliveries: WebhookDeliveries;
}

interface RecordOptions {
  readonly counters: Pick<PlatformCounters, 'committed'>;
  readonly logger: Logger;
  readonly news?: News;
  readonly now: () => Date;
}

export function openRecord(
  { store: bare, webhookSender: sender }: { readonly store: Store; readonly webhookSender: WebhookSender },
  { counters, logger, news = NO_NEWS, now }: RecordOptions,
): Recording {
  const webhookDeliveries = new WebhookDeliveries({ store: bare, sender, logger, now });
  const auditLog = new AuditLog({ store: bare, logger });
  news.on('audit', () => auditLog.wake());
  news.on('webhooks', () => webhookDeliveries.wake());
  const logNews = (): void => {
    auditLog.wake();
    news.publish('audit', '');
  };
  const deliver = (): void => {
    webhookDeliveries.wake();
    news.publish('webhooks', '');
  };
  const notifying = notifyingAfterCommit(measured(bare, counters), {
    insertDelivery: deliver,
    insertEvent: logNews,
    endEvent: logNews,
  });
  const audit = new Audit({ store: notifying, logger, now });
  return { store: audit.recording(notifying), audit, auditLog, webhookDeliveries };
}

function measured(store: Store, counters: RecordOptions['counters']): Store {
  const transact: Store['transact'] = async (work) => {
    const begun = performance.now();
    try {
      return await store.transact(work);
    } finally {
      counters.committed(performance.now() - begun);
    }
  };
  return new Proxy(store, {
    get: (target, name): unknown => (name === 'transact' ? transact : Reflect.get(target, name)),
  });
}
