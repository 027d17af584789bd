/** Use cases of webhooks: who is notified of what happens to an app, a team's or a user's apps, or the platform. */
import { randomBytes } from 'node:crypto';
import { randomHex } from '../../lib/ids.ts';
import { type Action, demand, may, type Subject } from '../access.ts';
import type { Act } from '../act.ts';
import { type Caller, callerName } from '../caller.ts';
import { demandApp } from '../demand-app.ts';
import { shownReceiver } from '../drains/drain.ts';
import { PlatformError } from '../errors.ts';
import type { Store, StoreWriter } from '../store.ts';
import { demandTeam } from '../teams/demand-team.ts';
import { normalEmail } from '../users/email.ts';
import { afterAttempt, type Delivery, KEPT_DELIVERIES, sentAgain } from './delivery.ts';
import { bodyOf, newDelivery } from './occurrence.ts';
import {
  checkKinds,
  checkWebhookUrl,
  deliveryNotFound,
  MAX_WEBHOOKS,
  type Webhook,
  webhookNotFound,
  type WebhookScope,
} from './webhook.ts';
import type { WebhookSender } from './webhook-sender.ts';

export interface WebhookInput {
  readonly scope: WebhookScope;
  /** Name of the app or team, e-mail of the user; '' for the platform. */
  readonly owner: string;
  readonly url: string;
  /** Empty: all. */
  readonly kinds: readonly string[];
}

export interface WebhookView {
  readonly webhook: Webhook;
  /** The last one that was tried, or waits; null: there was none. */
  readonly last: Delivery | null;
}

export interface Webhooks {
  /** Those that the caller may see. */
  list(caller: Caller): Promise<WebhookView[]>;
  info(caller: Caller, id: string): Promise<WebhookView>;
  /** The secret is shown here and never again. Errors: webhook.invalid, quota.exceeded, those of what it is about. */
  add(caller: Caller, input: WebhookInput): Promise<Webhook>;
  remove(caller: Caller, id: string): Promise<void>;
  /** Sends one message and waits for the answer, which is kept like any other; it is not tried again. */
  test(caller: Caller, id: string): Promise<Delivery>;
  /** Newest first. */
  deliveries(caller: Caller, id: string): Promise<Delivery[]>;
  /** Sends one again as it was, soon, with the same ID. */
  resend(caller: Caller, id: string, delivery: string): Promise<Delivery>;
}

interface WebhooksDeps {
  /** Wakes whoever sends. */
  readonly store: Store;
  readonly sender: WebhookSender;
  readonly wake: () => void;
  readonly act: Act;
  readonly now: () => Date;
}

const SHOWN_DELIVERIES = 100;
const TEST_MS = 60_000;
const SECRET_BYTES = 32;

export function createWebhooks({ store, sender, wake, act, now }: WebhooksDeps): Webhooks {
  async function demandWebhook(id: string): Promise<Webhook> {
    const webhook = await store.webhook(id);
    if (webhook === null) throw webhookNotFound(id);
    return webhook;
  }

  async function viewOf(webhook: Webhook): Promise<WebhookView> {
    return { webhook, last: (await store.deliveries(webhook.id, 1))[0] ?? null };
  }

  async function demandDelivery(from: Pick<Store, 'delivery'>, webhook: string, id: string): Promise<Delivery> {
    const delivery = await from.delivery(id);
    if (delivery === null || delivery.webhook !== webhook) throw deliveryNotFound(id);
    return delivery;
  }

  async function doing<T>(caller: Caller, action: Action, id: string, work: (webhook: Webhook) => Promise<T>) {
    const webhook = await demandWebhook(id);
    const detail = `${id} to ${shownReceiver(webhook)}`;
    return act(caller, action, await subjectOf(store, webhook), { target: targetOf(webhook), detail }, async () =>
      work(await demandWebhook(id)),
    );
  }

  return {
    async list(caller) {
      demand(caller, 'event.list');
      const seen: WebhookView[] = [];
      for (const webhook of await store.webhooks()) {
        const subject = await subjectOf(store, webhook).catch(() => ({}));
        if (may(caller, 'webhook.list', subject)) seen.push(await viewOf(webhook));
      }
      return seen;
    },

    async info(caller, id) {
      const webhook = await demandWebhook(id);
      demand(caller, 'webhook.list', await subjectOf(store, webhook));
      return viewOf(webhook);
    },

    async add(caller, { scope, owner: given, url: text, kinds: wanted }) {
      const owner = scope === 'user' ? normalEmail(given) : given;
      const about = { scope, owner };
      const options = { target: targetOf(about), lease: `webhooks:${scope}:${owner}` };
      return act(caller, 'webhook.add', await subjectOf(store, about), options, async () => {
        const url = checkWebhookUrl(text);
        const kinds = checkKinds(wanted);
        const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
        const by = callerName(caller);
        const webhook = { id: randomHex(8), scope, owner, url, secret, kinds, by, createdAt: now().toISOString() };
        await store.transact(async (tx) => {
          await demandOwner(tx, about);
          const others = (await tx.webhooks()).filter((other) => other.scope === scope && other.owner === owner);
          if (others.length >= MAX_WEBHOOKS) throw tooMany();
          await tx.insertWebhook(webhook);
        });
        return webhook;
      });
    },

    remove: (caller, id) => doing(caller, 'webhook.remove', id, () => store.transact((tx) => tx.deleteWebhook(id))),

    test: (caller, id) =>
      doing(caller, 'webhook.test', id, async (webhook) => {
        const at = now();
        const kind = 'webhook.test';
        const app = webhook.scope === 'app' ? webhook.owner : '';
        const by = callerName(caller);
        const body = bodyOf({ kind, app, by, message: 'This message tests a webhook.' }, at.toISOString());
        const delivery = newDelivery(id, kind, app, body, at.toISOString());
        const attempt = await sender.send(webhook, delivery, at, AbortSignal.timeout(TEST_MS));
        const tried = afterAttempt(delivery, attempt, now(), 0);
        const over: Delivery = { ...tried, state: tried.state === 'delivered' ? 'delivered' : 'failed' };
        await store.transact(async (tx) => {
          if ((await tx.webhook(id)) === null) return;
          await tx.insertDelivery(over);
          await tx.trimDeliveries(id, KEPT_DELIVERIES);
        });
        return over;
      }),

    async deliveries(caller, id) {
      const webhook = await demandWebhook(id);
      demand(caller, 'webhook.list', await subjectOf(store, webhook));
      return store.deliveries(id, SHOWN_DELIVERIES);
    },

    async resend(caller, id, deliveryId) {
      return doing(caller, 'webhook.resend', id, async () => {
        const again = await store.transact(async (tx) => {
          const waiting = sentAgain(await demandDelivery(tx, id, deliveryId), now());
          await tx.updateDelivery(waiting);
          return waiting;
        });
        wake();
        return again;
      });
    },
  };
}

async function subjectOf(
  store: Pick<Store, 'app' | 'team'>,
  { scope, owner }: Pick<Webhook, 'scope' | 'owner'>,
): Promise<Subject> {
  if (scope === 'platform') return {};
  if (scope === 'app') return { app: await demandApp(store, owner) };
  if (scope === 'team') return { team: await demandTeam(store, owner) };
  return { email: owner };
}

/** Whoever it is about may have gone since the caller was looked up. */
async function demandOwner(tx: StoreWriter, about: Pick<Webhook, 'scope' | 'owner'>): Promise<void> {
  await subjectOf(tx, about);
  if (about.scope !== 'user' || (await tx.user(about.owner)) !== null) return;
  throw new PlatformError('user.not_found', 'User not found', { hint: 'Check the e-mail address.' });
}

function targetOf({ scope, owner }: Pick<Webhook, 'scope' | 'owner'>): string {
  return scope === 'platform' ? 'webhooks' : `${scope}:${owner}`;
}

function tooMany(): PlatformError {
  return new PlatformError('quota.exceeded', `There are ${MAX_WEBHOOKS} webhooks already.`, {
    hint: 'Remove one that is not needed: tancho webhook list',
  });
}
