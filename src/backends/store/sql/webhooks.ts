import type { Delivery, DeliveryState } from '../../../domain/webhooks/delivery.ts';
import type { Webhook, WebhookScope } from '../../../domain/webhooks/webhook.ts';
import type { WebhookReader, WebhookWriter } from '../../../domain/webhooks/webhook-store.ts';
import type { Scope, WebhookDeliveriesTable, WebhooksTable } from './schema.ts';

type DeliveryRow = Omit<WebhookDeliveriesTable, 'seq'>;

export function webhookReader({ db, sealer }: Scope): WebhookReader {
  const fromRow = (row: WebhooksTable): Webhook => {
    const { url, secret } = JSON.parse(sealer.open(row.sealed_target, contextOf(row.id))) as Target;
    return {
      id: row.id,
      scope: row.scope as WebhookScope,
      owner: row.owner,
      url,
      secret,
      kinds: JSON.parse(row.kinds_json) as Webhook['kinds'],
      by: row.actor,
      createdAt: row.created_at,
    };
  };
  const waiting = db.selectFrom('webhook_deliveries').where('state', '=', 'waiting');
  return {
    async webhooks() {
      const all = db.selectFrom('webhooks').selectAll();
      const sorted = all.orderBy('scope').orderBy('owner').orderBy('created_at').orderBy('id');
      return (await sorted.execute()).map(fromRow);
    },
    async webhook(id) {
      const row = await db.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
    async delivery(id) {
      const row = await db.selectFrom('webhook_deliveries').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : fromDeliveryRow(row);
    },
    async deliveries(webhook, limit) {
      const all = db.selectFrom('webhook_deliveries').selectAll().where('webhook', '=', webhook);
      return (await all.orderBy('seq', 'desc').limit(limit).execute()).map(fromDeliveryRow);
    },
    async dueDeliveries(now) {
      const firsts = waiting
        .select((of) => of.fn.min('seq').as('seq'))
        // Those that a clock has written that was ahead, too.
        .where((row) =>
          row.or([
            row('next_attempt_at', '<=', now),
            row('last_attempt_at', '>', now),
            row.and([row('created_at', '>', now), row('attempts', '=', 0)]),
          ]),
        )
        .groupBy('webhook');
      const due = db.selectFrom('webhook_deliveries').selectAll().where('seq', 'in', firsts);
      return (await due.orderBy('next_attempt_at').orderBy('seq').execute()).map(fromDeliveryRow);
    },
    async nextDeliveryAt() {
      const next = await waiting.select('next_attempt_at').orderBy('next_attempt_at').limit(1).executeTakeFirst();
      return next?.next_attempt_at ?? null;
    },
    async hasDelivery({ webhook, kind, app, since }) {
      const like = db.selectFrom('webhook_deliveries').select('seq').where('webhook', '=', webhook);
      const found = like.where('kind', '=', kind).where('app', '=', app).where('created_at', '>=', since);
      return (await found.limit(1).executeTakeFirst()) !== undefined;
    },
  };
}

export function webhookWriter({ db, sealer }: Scope): WebhookWriter {
  return {
    async insertWebhook({ id, scope, owner, url, secret, kinds, by, createdAt }) {
      const target: Target = { url, secret };
      const sealed_target = sealer.seal(JSON.stringify(target), contextOf(id));
      const row = {
        id,
        scope,
        owner,
        sealed_target,
        kinds_json: JSON.stringify(kinds),
        actor: by,
        created_at: createdAt,
      };
      await db.insertInto('webhooks').values(row).execute();
    },
    async deleteWebhook(id) {
      await db.deleteFrom('webhooks').where('id', '=', id).execute();
    },
    async deleteWebhooksOf(scope, owner) {
      await db.deleteFrom('webhooks').where('scope', '=', scope).where('owner', '=', owner).execute();
    },
    async insertDelivery(delivery) {
      const { id, webhook, kind, app, body } = delivery;
      const row = { id, webhook, kind, app, body, created_at: delivery.createdAt, ...changeOf(delivery) };
      await db.insertInto('webhook_deliveries').values(row).execute();
    },
    async updateDelivery(delivery) {
      await db.updateTable('webhook_deliveries').set(changeOf(delivery)).where('id', '=', delivery.id).execute();
    },
    async trimDeliveries(webhook, keep) {
      for (const isWaiting of [true, false]) {
        const one = db.selectFrom('webhook_deliveries').select('seq').where('webhook', '=', webhook);
        const kind = one.where('state', isWaiting ? '=' : '!=', 'waiting').orderBy('seq', 'desc');
        const surplus = await kind
          .offset(isWaiting ? keep.waiting : keep.over)
          .limit(1)
          .executeTakeFirst();
        if (surplus === undefined) continue;
        const old = db.deleteFrom('webhook_deliveries').where('webhook', '=', webhook).where('seq', '<=', surplus.seq);
        await old.where('state', isWaiting ? '=' : '!=', 'waiting').execute();
      }
    },
  };
}

interface Target {
  readonly url: string;
  readonly secret: string;
}

function contextOf(id: string): string {
  return `webhook:${id}`;
}

function changeOf(delivery: Delivery) {
  return {
    state: delivery.state,
    retried_since: delivery.retriedSince,
    next_attempt_at: delivery.nextAttemptAt,
    attempts: delivery.attempts,
    last_attempt_at: delivery.lastAttemptAt,
    status: delivery.status,
    answer: delivery.answer,
  };
}

function fromDeliveryRow(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    webhook: row.webhook,
    kind: row.kind as Delivery['kind'],
    app: row.app,
    body: row.body,
    state: row.state as DeliveryState,
    createdAt: row.created_at,
    retriedSince: row.retried_since,
    nextAttemptAt: row.next_attempt_at,
    attempts: row.attempts,
    lastAttemptAt: row.last_attempt_at,
    status: row.status,
    answer: row.answer,
  };
}
