/** What happens that somebody elsewhere wants to know: written, with what happened, in one transaction for every webhook it concerns. */
import { randomHex } from '../../lib/ids.ts';
import type { StoreWriter } from '../store.ts';
import type { Delivery } from './delivery.ts';
import type { Webhook } from './webhook.ts';

export const OCCURRENCES = [
  'deploy.done',
  'deploy.failed',
  'unit.died',
  'certificate.failing',
  'quota.reached',
  'disk.low',
  'alert.firing',
  'alert.resolved',
] as const;
export type OccurrenceKind = (typeof OCCURRENCES)[number];

interface Occurrence {
  readonly kind: OccurrenceKind;
  /** '' for what is about no app. */
  readonly app: string;
  /** E-mail of who did it; '' for nobody. */
  readonly by?: string;
  /** One sentence for people, free of secrets. */
  readonly message: string;
  /** More facts for programs, free of secrets. */
  readonly facts?: Readonly<Record<string, string | number>>;
  /** Not again about the same for so long; absent: every time. */
  readonly quietMs?: number;
}

const MAX_MESSAGE = 1_000;

/** Nothing is written where no webhook wants it. Wakes nobody: the transaction is not committed yet. */
export async function announce(tx: StoreWriter, occurrence: Occurrence, at: string): Promise<void> {
  const { kind, app, quietMs = 0 } = occurrence;
  const wanting = (await tx.webhooks()).filter(({ kinds }) => kinds.length === 0 || kinds.includes(kind));
  if (wanting.length === 0) return;
  const teams = app === '' ? [] : ((await tx.app(app))?.teams ?? []);
  for (const webhook of wanting) {
    if (!(await concerns(tx, webhook, occurrence, teams))) continue;
    const since = new Date(Date.parse(at) - quietMs).toISOString();
    if (quietMs > 0 && (await tx.hasDelivery({ webhook: webhook.id, kind, app, since }))) continue;
    await tx.insertDelivery(newDelivery(webhook.id, kind, app, bodyOf(occurrence, at), at));
  }
}

export function newDelivery(webhook: string, kind: Delivery['kind'], app: string, body: string, at: string): Delivery {
  return {
    id: `msg_${randomHex(24)}`,
    webhook,
    kind,
    app,
    body,
    state: 'waiting',
    createdAt: at,
    retriedSince: at,
    nextAttemptAt: at,
    attempts: 0,
    lastAttemptAt: '',
    status: 0,
    answer: '',
  };
}

/** The form of Standard Webhooks: what it is, when it was, and the facts. */
export function bodyOf(
  { kind, app, by, message, facts }: Omit<Occurrence, 'kind'> & { kind: string },
  at: string,
): string {
  const data = { app, ...(by !== undefined && by !== '' && { by }), message: message.slice(0, MAX_MESSAGE), ...facts };
  return JSON.stringify({ type: kind, timestamp: at, data });
}

async function concerns(
  tx: StoreWriter,
  { scope, owner }: Webhook,
  { app, by }: Occurrence,
  teams: readonly string[],
): Promise<boolean> {
  if (scope === 'platform') return true;
  if (scope === 'app') return app === owner;
  if (scope === 'team') return teams.includes(owner);
  if (by === owner) return true;
  if (teams.length === 0) return false;
  const own = await tx.teamsOf(owner);
  return teams.some((team) => own.includes(team));
}
