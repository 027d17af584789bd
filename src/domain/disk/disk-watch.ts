/**
 * Notifies webhooks when the reserve of the platform is touched: once, and not again before there was clearly more room. What was announced
 * last is remembered, so a restart notifies nobody twice.
 */
import type { Logger } from '../../lib/logger.ts';
import { repeatedly } from '../../lib/repeatedly.ts';
import type { MachineProbe } from '../diagnosis/probe.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import { announce } from '../webhooks/occurrence.ts';
import { describedSpace, isLow } from './disk-room.ts';

interface DiskWatchDeps {
  readonly store: Pick<Store, 'setting' | 'transact'>;
  readonly probe: Pick<MachineProbe, 'disk'>;
  readonly settings: Pick<Settings, 'diskReserveBytes'>;
  readonly logger: Logger;
  readonly now: () => Date;
}

const EVERY_MS = 30_000;
/** With so many times what is to be free it counts as mended. */
const MENDED = 1.25;
const KEY = 'disk.low';

export class DiskWatch {
  readonly #deps: DiskWatchDeps;
  #stop: (() => Promise<void>) | null = null;

  constructor(deps: DiskWatchDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#stop ??= repeatedly(EVERY_MS, () => this.look());
  }

  async close(): Promise<void> {
    await this.#stop?.();
  }

  /** Never rejects: what cannot be had now is looked at the next time. */
  async look(): Promise<void> {
    const { store, probe, settings, logger, now } = this.#deps;
    try {
      const space = await probe.disk();
      if (space === null) return;
      const wasLow = ((await store.setting(KEY)) ?? '') !== '';
      const margin = wasLow ? MENDED : 1;
      const seen = { ...space, freeBytes: space.freeBytes / margin, freeFiles: space.freeFiles / margin };
      const isLowNow = isLow(seen, settings);
      if (isLowNow === wasLow) return;
      const at = now().toISOString();
      await store.transact(async (tx) => {
        await tx.setSetting(KEY, isLowNow ? at : '');
        if (!isLowNow) return;
        const message = `The disk of the server is nearly full: ${describedSpace(space)}. No new code is taken.`;
        const { freeBytes, totalBytes, freeFiles, totalFiles } = space;
        const facts = {
          ...{ free_bytes: freeBytes, total_bytes: totalBytes, reserve_bytes: settings.diskReserveBytes },
          ...(totalFiles > 0 && { free_files: freeFiles, total_files: totalFiles }),
        };
        await announce(tx, { kind: 'disk.low', app: '', message, facts }, at);
      });
    } catch (error) {
      logger.warn({ err: error }, 'the free space could not be looked at');
    }
  }
}
