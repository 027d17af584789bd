/** Messages to the receivers of webhooks: one signed POST to a checked address, redirects not followed. */
import { createHmac } from 'node:crypto';
import type { DeliveryAttempt } from '../../../domain/webhooks/delivery.ts';
import type { Webhook } from '../../../domain/webhooks/webhook.ts';
import type { WebhookSender } from '../../../domain/webhooks/webhook-sender.ts';
import { withDeadline } from '../../../lib/deadline.ts';
import type { AddressGuard } from '../../../lib/guarded/address-guard.ts';
import { openRequest, readAnswer, RequestFailure } from '../../../lib/guarded/guarded-request.ts';
import { requestFailed } from '../../../lib/guarded/receiver-words.ts';
import { createRedactor, withEncoded } from '../../../lib/redact.ts';

export interface HttpWebhooksOptions {
  readonly guard: AddressGuard;
  /** Of one attempt. */
  readonly timeoutMs?: number;
  /** PEM of roots that receivers are trusted by, in place of those that everybody trusts. */
  readonly roots?: string;
}

const TIMEOUT_MS = 20_000;
const CONNECT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_SHOWN = 500;
const MAX_RETRY_AFTER_S = 60 * 60;

export function createHttpWebhooks({ guard, timeoutMs = TIMEOUT_MS, roots }: HttpWebhooksOptions): WebhookSender {
  const trusted = roots === undefined ? {} : { roots };

  async function post(webhook: Webhook, message: Message, signal: AbortSignal): Promise<DeliveryAttempt> {
    const url = new URL(webhook.url);
    const headers = {
      'user-agent': 'tancho',
      'content-type': 'application/json',
      ...signature(webhook.secret, message),
    };
    const { body } = message;
    const request = { method: 'POST', url, headers, body, connectMs: CONNECT_MS, signal, ...trusted };
    const answer = await openRequest(guard, request);
    const retryAfter = answer.headers['retry-after'] ?? '';
    const seconds = /^\d{1,9}$/.test(retryAfter) ? Math.min(MAX_RETRY_AFTER_S, Number(retryAfter)) : 0;
    // The status is the answer; of what comes with it only the beginning is kept.
    const text = await readAnswer(answer, MAX_ANSWER_BYTES, signal).catch(() => '');
    return { status: answer.statusCode ?? 0, answer: shown(text, webhook), retryAfterMs: seconds * 1000 };
  }

  return {
    async send(webhook, { id, body }, at, signal) {
      const message = { id, body, timestamp: Math.floor(at.getTime() / 1000) };
      try {
        return await withDeadline(timeoutMs, signal, (limited) => post(webhook, message, limited));
      } catch (error) {
        if (signal.aborted) throw error;
        const why = error instanceof RequestFailure ? requestFailed(error) : 'The message could not be sent.';
        return { status: 0, answer: why, retryAfterMs: 0 };
      }
    },
  };
}

interface Message {
  readonly id: string;
  readonly body: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
}

/** https://github.com/standard-webhooks/standard-webhooks: HMAC-SHA256 over ID, time and body. */
export function signature(secret: string, { id, timestamp, body }: Message): Record<string, string> {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const sum = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${sum}` };
}

/** A receiver may quote what it was asked. */
function shown(text: string, { url, secret }: Webhook): string {
  const { pathname, search, searchParams } = new URL(url);
  const segments = pathname.split('/').filter((segment) => segment.length >= 16);
  const redact = createRedactor(withEncoded([secret, ...segments, ...(search === '' ? [] : searchParams.values())]));
  return redact(text).replace(/\s+/g, ' ').trim().replaceAll('\0', '\uFFFD').slice(0, MAX_SHOWN);
}
