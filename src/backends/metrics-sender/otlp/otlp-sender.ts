/** Metrics over OTLP/HTTP, as JSON: one POST to an address of the operator's, which is checked as those of providers are. */
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { MetricsSender } from '../../../domain/metrics/metrics-sender.ts';
import type { AddressGuard } from '../../../lib/guarded/address-guard.ts';
import { openRequest, readAnswer, RequestFailure } from '../../../lib/guarded/guarded-request.ts';

const packed = promisify(gzip);
const CONNECT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_SHOWN = 200;

interface OtlpSenderOptions {
  /** The whole address, `http://collector:4318/v1/metrics`. */
  readonly url: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly guard: AddressGuard;
}

export function createOtlpSender({ url, headers, guard }: OtlpSenderOptions): MetricsSender {
  return {
    async send(body, signal) {
      const answer = await openRequest(guard, {
        method: 'POST',
        url: new URL(url),
        headers: {
          'user-agent': 'tancho',
          ...Object.fromEntries(headers),
          ...{ 'content-type': 'application/json', 'content-encoding': 'gzip' },
        },
        body: Readable.from([await packed(body)]),
        connectMs: CONNECT_MS,
        signal,
      }).catch((error: unknown) => {
        const why = error instanceof RequestFailure ? error.message : 'it could not be asked';
        throw new Error(`The receiver of metrics: ${why}.`, { cause: error });
      });
      const text = await readAnswer(answer, MAX_ANSWER_BYTES, signal).catch(() => '');
      const { statusCode = 0 } = answer;
      if (statusCode >= 200 && statusCode < 300) return;
      throw new Error(
        `The receiver of metrics answered ${statusCode}: ${withoutHeaders(text, headers).slice(0, MAX_SHOWN)}`,
      );
    },
  };
}

/** A receiver may quote what it was asked with. */
function withoutHeaders(text: string, headers: ReadonlyMap<string, string>): string {
  let shown = text.replace(/\s+/g, ' ').trim();
  for (const value of headers.values()) shown = shown.replaceAll(value, '***');
  return shown;
}
