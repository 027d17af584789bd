import { shownReceiver } from '../../domain/drains/drain.ts';
import type { Delivery } from '../../domain/webhooks/delivery.ts';
import type { Webhook } from '../../domain/webhooks/webhook.ts';
import type { WebhookView } from '../../domain/webhooks/webhooks.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

/** `scope` is app, team, user or platform, `owner` whose; of the address the host alone is shown. `events` is empty for all. */
const known = {
  id: Type.String(),
  scope: Type.String(),
  owner: Type.String(),
  receiver: Type.String(),
  events: Type.Array(Type.String()),
  created_by: Type.String(),
  created_at: Type.String(),
};

const deliveryFields = Type.Object({
  /** As the receiver sees it in `webhook-id`, the same at each attempt. */
  id: Type.String(),
  event: Type.String(),
  app: Type.String(),
  /** waiting, delivered or failed. */
  state: Type.String(),
  created_at: Type.String(),
  /** Of one that waits; empty otherwise. */
  next_attempt_at: Type.String(),
  attempts: Type.Integer(),
  last_attempt_at: Type.String(),
  /** Of the last answer; 0: there was none. */
  status: Type.Integer(),
  /** The beginning of the last answer, or why there was none. */
  answer: Type.String(),
  /** What is sent, JSON. */
  body: Type.String(),
});

function fromWebhook({ id, scope, owner, url, kinds, by, createdAt }: Webhook) {
  const receiver = shownReceiver({ url });
  return { id, scope, owner, receiver, events: [...kinds], created_by: by, created_at: createdAt };
}

function fromDelivery({ id, kind, app, state, createdAt, nextAttemptAt, attempts, ...last }: Delivery) {
  return {
    id,
    event: kind,
    app,
    state,
    created_at: createdAt,
    next_attempt_at: state === 'waiting' ? nextAttemptAt : '',
    attempts,
    last_attempt_at: last.lastAttemptAt,
    status: last.status,
    answer: last.answer,
    body: last.body,
  };
}

const fields = Type.Object({
  ...known,
  /** What became of the last message: empty where there was none. */
  last_state: Type.String(),
  last_answer: Type.String(),
});

function toWire({ webhook: one, last }: WebhookView) {
  return { ...fromWebhook(one), last_state: last?.state ?? '', last_answer: last === null ? '' : answerOf(last) };
}

function answerOf({ status, answer }: Delivery): string {
  return [status === 0 ? '' : String(status), answer].filter((part) => part !== '').join(': ');
}

export const webhook = shape(fields, toWire);
export const webhooks = shape(Type.Array(fields), (views: readonly WebhookView[]) => views.map(toWire));
/** The only answer with the secret that receivers check signatures with. */
export const webhookAdded = shape(Type.Object({ ...known, secret: Type.String() }), (one: Webhook) => ({
  ...fromWebhook(one),
  secret: one.secret,
}));
export const webhookDelivery = shape(deliveryFields, fromDelivery);
export const webhookDeliveries = shape(Type.Array(deliveryFields), (all: readonly Delivery[]) => all.map(fromDelivery));
