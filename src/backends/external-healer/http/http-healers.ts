/** Healers of others: one GET per execution, to checked addresses only, with a deadline; redirects are not followed. */
import type { ExternalHealer, ExternalHealers } from '../../../domain/healers/external-healer.ts';
import { PlatformError } from '../../../domain/errors.ts';
import { withDeadline } from '../../../lib/deadline.ts';
import type { AddressGuard } from '../../../lib/guarded/address-guard.ts';
import { openRequest, readAnswer, RequestFailure } from '../../../lib/guarded/guarded-request.ts';
import { createRedactor } from '../../../lib/redact.ts';

const CONNECT_MS = 5_000;
const CALL_MS = 60_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_SHOWN = 2_000;

interface HttpHealersOptions {
  readonly guard: AddressGuard;
  /** A minute when absent. */
  readonly callMs?: number;
}

export function createHttpHealers(options: HttpHealersOptions): ExternalHealers {
  const { guard, callMs = CALL_MS } = options;

  async function ask(healer: ExternalHealer, requestId: string): Promise<{ status: number; text: string }> {
    const url = new URL(healer.url);
    const headers: Record<string, string> = { 'user-agent': 'tancho', 'x-request-id': requestId };
    if (url.username !== '') headers.authorization = `Basic ${credentialsOf(url)}`;
    url.username = '';
    url.password = '';
    return withDeadline(callMs, null, async (signal) => {
      const request = { method: 'GET', url, headers, body: null, connectMs: CONNECT_MS, signal };
      const answer = await openRequest(guard, request);
      return { status: answer.statusCode ?? 0, text: await readAnswer(answer, MAX_ANSWER_BYTES, signal) };
    });
  }

  return {
    async call(healer, requestId) {
      const fail = (why: string, cause?: unknown): PlatformError =>
        new PlatformError('healer.failed', `The healer "${healer.name}" did not run: ${why}`, {
          hint: 'Its address is in the setting healers.',
          cause,
        });
      const { password } = new URL(healer.url);
      const redact = createRedactor([decodeURIComponent(password), password]);
      try {
        const { status, text } = await ask(healer, requestId);
        const shown = redact(text).slice(0, MAX_SHOWN).trim();
        if (status >= 200 && status < 300) return shown;
        throw fail(`it answered ${status}${shown === '' ? '.' : `: ${shown}`}`);
      } catch (error) {
        if (error instanceof RequestFailure) throw fail(`${error.message.replace(/\.?$/, '.')}`, error);
        throw error;
      }
    },
  };
}

function credentialsOf(url: URL): string {
  return Buffer.from(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`).toString('base64');
}
