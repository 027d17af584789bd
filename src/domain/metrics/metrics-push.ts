/** Sends what Prometheus could ask for once a minute, where the operator wishes that. A failure is logged once; the next time it is all there again. */
import type { Logger } from '../../lib/logger.ts';
import { repeatedly } from '../../lib/repeatedly.ts';
import type { MetricsSender } from './metrics-sender.ts';
import { otlpOf } from './otlp.ts';

interface MetricsPushDeps {
  readonly sender: MetricsSender;
  /** In the text format of Prometheus. */
  readonly text: () => Promise<string>;
  readonly version: string;
  readonly logger: Logger;
  readonly now: () => Date;
}

const EVERY_MS = 60_000;
const SEND_MS = 30_000;

export class MetricsPush {
  readonly #deps: MetricsPushDeps;
  readonly #startMs: number;
  #isFailing = false;
  #stop: (() => Promise<void>) | null = null;

  constructor(deps: MetricsPushDeps) {
    this.#deps = deps;
    this.#startMs = deps.now().getTime();
  }

  start(): void {
    this.#stop ??= repeatedly(EVERY_MS, (signal) => this.push(signal));
  }

  async close(): Promise<void> {
    await this.#stop?.();
  }

  /** Never rejects. */
  async push(signal: AbortSignal): Promise<void> {
    const { sender, text, version, logger, now } = this.#deps;
    try {
      const times = { startMs: this.#startMs, nowMs: now().getTime() };
      const body = otlpOf(await text(), version, times);
      await sender.send(body, AbortSignal.any([signal, AbortSignal.timeout(SEND_MS)]));
      if (this.#isFailing) logger.info({}, 'metrics are taken again');
      this.#isFailing = false;
    } catch (error) {
      if (signal.aborted) return;
      if (!this.#isFailing) logger.warn({ err: error }, 'metrics could not be sent; it is tried again every minute');
      this.#isFailing = true;
    }
  }
}
