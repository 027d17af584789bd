/** Webhooks: who is notified of what happens. */
import type { Requests } from './requests.ts';
import type * as shapes from './shapes.ts';

export interface WebhooksClient {
  /** All that the caller may see. */
  list(): Promise<readonly shapes.WebhookShape[]>;
  info(webhook: string): Promise<shapes.WebhookShape>;
  /** Resolves with the secret, which is never shown again. */
  add(webhook: shapes.NewWebhook): Promise<shapes.AddedWebhook>;
  remove(webhook: string): Promise<void>;
  /** Sends one message; resolves with what the receiver answers, also when it refuses. */
  test(webhook: string): Promise<shapes.WebhookDelivery>;
  /** Newest first. */
  deliveries(webhook: string): Promise<readonly shapes.WebhookDelivery[]>;
  resend(webhook: string, delivery: string): Promise<shapes.WebhookDelivery>;
}

export function webhooksClient({ request }: Requests): WebhooksClient {
  return {
    list: () => request('webhooks.list'),
    info: (webhook) => request('webhooks.info', { params: { webhook } }),
    add: (body) => request('webhooks.add', { body }),
    remove: (webhook) => request('webhooks.remove', { params: { webhook } }),
    test: (webhook) => request('webhooks.test', { params: { webhook } }),
    deliveries: (webhook) => request('webhooks.deliveries', { params: { webhook } }),
    resend: (webhook, delivery) => request('webhooks.resend', { params: { webhook, delivery } }),
  };
}
