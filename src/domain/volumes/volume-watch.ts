/**
 * Looks at how much the volumes with a limit hold, every minute. A volume that holds more than it should is told, and goes on being
 * written: to stop writers in the middle of a file would cost them data.
 */
import type { Journal } from '../logs/journal.ts';
import type { Logger } from '../../lib/logger.ts';
import { repeatedly } from '../../lib/repeatedly.ts';
import type { Store } from '../store.ts';
import type { VolumeHost } from './volume-host.ts';

const EVERY_MS = 60_000;

interface VolumeWatchDeps {
  readonly store: Pick<Store, 'volumes'>;
  readonly volumeHost: Pick<VolumeHost, 'hold' | 'size'>;
  readonly journal: Journal;
  readonly logger: Logger;
}

export class VolumeWatch {
  readonly #deps: VolumeWatchDeps;
  /** `<app>/<name>` -> a sentence about it. */
  #full = new Map<string, string>();
  #stop: (() => Promise<void>) | null = null;

  constructor(deps: VolumeWatchDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#stop ??= repeatedly(EVERY_MS, (signal) => this.look(signal));
  }

  async close(): Promise<void> {
    await this.#stop?.();
  }

  /** A sentence for each volume of the app that holds more than it should. */
  problemsOf(app: string): string[] {
    return [...this.#full].filter(([key]) => key.startsWith(`${app}/`)).map(([, text]) => text);
  }

  /** Never rejects: what cannot be had now is looked at the next time. */
  async look(signal?: AbortSignal): Promise<void> {
    const { store, volumeHost, journal, logger } = this.#deps;
    try {
      const full = new Map<string, string>();
      for (const volume of await store.volumes()) {
        if (signal?.aborted === true) return;
        const { app, name, maxBytes, state } = volume;
        if (state !== 'ready') continue;
        await volumeHost.hold(volume, maxBytes);
        if (maxBytes === 0) continue;
        const key = `${app}/${name}`;
        const bytes = await volumeHost.size(volume);
        if (bytes === null || bytes < maxBytes) continue;
        const text = `The volume ${name} is full: it holds ${mib(bytes)} of ${mib(maxBytes)}. Remove what is not needed, or give it more: tancho volume update ${name} --size <size> -a ${app}`;
        full.set(key, text);
        if (!this.#full.has(key)) await journal.note(app, text);
      }
      this.#full = full;
    } catch (error) {
      logger.warn({ err: error }, 'the volumes could not be looked at');
    }
  }
}

function mib(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
