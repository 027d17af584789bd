/** A webhook: where others are notified of what happens. Rules only: no storage, no effects. */
import { PlatformError } from '../errors.ts';
import { OCCURRENCES, type OccurrenceKind } from './occurrence.ts';

/** What it is notified of: one app, the apps of a team, those of a user's teams, or everything. */
const WEBHOOK_SCOPES = ['app', 'team', 'user', 'platform'] as const;
export type WebhookScope = (typeof WEBHOOK_SCOPES)[number];

export interface Webhook {
  readonly id: string;
  readonly scope: WebhookScope;
  /** Name of the app or team, e-mail of the user; '' for the platform. */
  readonly owner: string;
  /** `http://` or `https://`. Secret: tokens stand in paths and queries. */
  readonly url: string;
  /** `whsec_` and 32 bytes in base64. */
  readonly secret: string;
  /** Empty: all. */
  readonly kinds: readonly OccurrenceKind[];
  readonly by: string;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
}

/** Of one owner. */
export const MAX_WEBHOOKS = 10;
const MAX_URL = 2_048;

/** Throws `webhook.invalid`. */
export function checkWebhookUrl(text: string): string {
  const url = text.length <= MAX_URL && URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw invalid('That is no address that a webhook can have.', 'Give for example https://hooks.example.com/deploys.');
  }
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw invalid(
      'The address has a user, a password or a fragment.',
      'Leave them out: the receiver knows who sends by the signature.',
    );
  }
  return url.href;
}

/** Throws `webhook.invalid`. */
export function checkKinds(given: readonly string[]): readonly OccurrenceKind[] {
  return [...new Set(given)].map((text) => {
    const kind = OCCURRENCES.find((known) => known === text);
    if (kind !== undefined) return kind;
    const shown = JSON.stringify(text.slice(0, 40));
    throw invalid(`${shown} is no event of webhooks.`, `There are ${OCCURRENCES.join(', ')}.`);
  });
}

export function webhookNotFound(id: string): PlatformError {
  return new PlatformError('webhook.not_found', `There is no webhook ${id.slice(0, 40)}.`, {
    hint: 'To see those there are: tancho webhook list',
  });
}

export function deliveryNotFound(id: string): PlatformError {
  return new PlatformError('webhook.not_found', `The webhook has no delivery ${id.slice(0, 40)}.`, {
    hint: 'To see those there are: tancho webhook deliveries <webhook>; old ones are removed.',
  });
}

function invalid(message: string, hint: string): PlatformError {
  return new PlatformError('webhook.invalid', message, { hint });
}
