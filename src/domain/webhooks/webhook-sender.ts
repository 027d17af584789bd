/** Contract: brings messages to the receivers of webhooks. Implementations live in backends/webhook-sender/<name>. */
import type { DeliveryAttempt, Delivery } from './delivery.ts';
import type { Webhook } from './webhook.ts';

export interface WebhookSender {
  /**
   * One attempt, signed as Standard Webhooks says; resolves with what came of it, whatever is wrong, within a minute. Rejects only when
   * the signal has fired.
   */
  send(
    webhook: Webhook,
    delivery: Pick<Delivery, 'id' | 'body'>,
    at: Date,
    signal: AbortSignal,
  ): Promise<DeliveryAttempt>;
}
