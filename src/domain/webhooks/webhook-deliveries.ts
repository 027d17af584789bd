/**
 * Sends what waits: a delivery is a row that was written with what happened, and is sent until its receiver takes it, so at least once,
 * whatever ends in between. One of each webhook at a time: a receiver that hangs holds up nobody but itself.
 */
import type { Logger } from '../../lib/logger.ts';
import type { Store } from '../store.ts';
import { afterAttempt, type Delivery, KEPT_DELIVERIES } from './delivery.ts';
import type { WebhookSender } from './webhook-sender.ts';

interface WebhookDeliveriesDeps {
  readonly store: Pick<Store, 'dueDeliveries' | 'nextDeliveryAt' | 'webhook' | 'transact'>;
  readonly sender: WebhookSender;
  readonly logger: Logger;
  readonly now: () => Date;
}

const AT_ONCE = 8;
const LONGEST_SLEEP_MS = 10 * 60_000;
const STORE_PAUSE_MS = 5_000;

export class WebhookDeliveries {
  readonly #deps: WebhookDeliveriesDeps;
  readonly #stop = new AbortController();
  /** By webhook. */
  readonly #sending = new Map<string, Promise<void>>();
  /** Webhook -> when it was last sent to, as a running number: whoever waits longest is next, however much waits for one that hangs. */
  readonly #servedAt = new Map<string, number>();
  #served = 0;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isAwaited = false;
  #isStarted = false;

  constructor(deps: WebhookDeliveriesDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  /** Looks soon for what is due. Any number of calls make one look. */
  wake(): void {
    if (!this.#isStarted || this.#stop.signal.aborted || this.#isAwaited) return;
    this.#isAwaited = true;
    clearTimeout(this.#timer);
    this.#looking = this.#looking.then(async () => {
      this.#isAwaited = false;
      await this.#look();
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#looking;
    await Promise.all(this.#sending.values());
  }

  async #look(): Promise<void> {
    const { store, logger, now } = this.#deps;
    try {
      const due = await store.dueDeliveries(now().toISOString());
      // Nobody waits.
      if (due.length === 0 && this.#sending.size === 0) this.#servedAt.clear();
      const servedAt = ({ webhook }: Delivery): number => this.#servedAt.get(webhook) ?? 0;
      for (const delivery of due.toSorted((a, b) => servedAt(a) - servedAt(b))) {
        if (this.#stop.signal.aborted || this.#sending.size >= AT_ONCE) return;
        if (!this.#sending.has(delivery.webhook)) this.#begin(delivery);
      }
      const next = await store.nextDeliveryAt();
      // Who sends wakes this when it is done.
      if (next === null || this.#sending.size > 0) return;
      this.#sleep(Math.min(LONGEST_SLEEP_MS, Math.max(0, Date.parse(next) - now().getTime())));
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      logger.warn({ err: error }, 'deliveries of webhooks could not be looked up, trying again');
      this.#sleep(STORE_PAUSE_MS);
    }
  }

  #sleep(ms: number): void {
    if (this.#stop.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.wake(), ms);
    this.#timer.unref();
  }

  #begin(delivery: Delivery): void {
    const { logger } = this.#deps;
    const { webhook } = delivery;
    this.#served += 1;
    this.#servedAt.set(webhook, this.#served);
    const sending = this.#send(delivery).then(
      () => {
        this.#sending.delete(webhook);
        this.wake();
      },
      (error: unknown) => {
        this.#sending.delete(webhook);
        if (this.#stop.signal.aborted) return;
        logger.warn({ err: error, webhook }, 'a delivery of a webhook could not be recorded, trying again');
        this.#sleep(STORE_PAUSE_MS);
      },
    );
    this.#sending.set(webhook, sending);
  }

  async #send(delivery: Delivery): Promise<void> {
    const { store, sender, now } = this.#deps;
    const webhook = await store.webhook(delivery.webhook);
    if (webhook === null) return;
    const attempt = await sender.send(webhook, delivery, now(), this.#stop.signal);
    await store.transact(async (tx) => {
      const current = await tx.delivery(delivery.id);
      // Sent anew meanwhile: that is another attempt.
      if (current === null || current.retriedSince !== delivery.retriedSince) return;
      await tx.updateDelivery(afterAttempt(current, attempt, now(), Math.random()));
      await tx.trimDeliveries(webhook.id, KEPT_DELIVERIES);
    });
  }
}
