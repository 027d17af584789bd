import type { Delivery } from './delivery.ts';
import type { Webhook, WebhookScope } from './webhook.ts';

export interface WebhookReader {
  /** Sorted by scope, owner and when they were made. */
  webhooks(): Promise<Webhook[]>;
  webhook(id: string): Promise<Webhook | null>;
  delivery(id: string): Promise<Delivery | null>;
  /** Newest first. */
  deliveries(webhook: string, limit: number): Promise<Delivery[]>;
  /** Those that wait and whose time has come, or that were made after now and never tried, one of each webhook at most: its oldest. */
  dueDeliveries(now: string): Promise<Delivery[]>;
  /** When the next one that waits is due; null: none waits. */
  nextDeliveryAt(): Promise<string | null>;
  /** Whether there is one of this kind about this app, made at or after `since` (ISO 8601 UTC). */
  hasDelivery(like: {
    readonly webhook: string;
    readonly kind: string;
    readonly app: string;
    readonly since: string;
  }): Promise<boolean>;
}

export interface WebhookWriter {
  insertWebhook(webhook: Webhook): Promise<void>;
  /** With its deliveries. Missing: nothing to do. */
  deleteWebhook(id: string): Promise<void>;
  deleteWebhooksOf(scope: WebhookScope, owner: string): Promise<void>;
  insertDelivery(delivery: Delivery): Promise<void>;
  /** Everything but what it is and whose it is. Missing: nothing to do. */
  updateDelivery(delivery: Delivery): Promise<void>;
  /** All but the newest so many of those that are over, and of those that wait. */
  trimDeliveries(webhook: string, keep: { readonly over: number; readonly waiting: number }): Promise<void>;
}
