/** What every BackupStore must do. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BackupContents, BackupSource, BackupStore } from '../../domain/backups/backup-store.ts';

interface BackupStoreUnderTest {
  /** Keeps two. */
  readonly store: BackupStore;
  /** From now on nothing can be written there. */
  breaks(): Promise<void>;
  dispose(): Promise<void>;
}

const CASES = 5;
const NOTHING: BackupContents = { artifacts: [], needed: [], apps: ['shop'], volumes: [] };
const SOURCE: BackupSource = { contents: async () => NOTHING, settled: async (_, contents) => contents };
const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

export function backupStoreConformance(name: string, create: () => Promise<BackupStoreUnderTest>): void {
  describe(`backup store ${name}`, () => {
    let under: BackupStoreUnderTest;
    let counted = 0;
    beforeEach(async () => {
      under = await create();
    });
    afterEach(() => under.dispose());
    const test = (title: string, run: (store: BackupStore) => Promise<void>): void => {
      it(title, async () => {
        await run(under.store);
        counted += 1;
      });
    };
    const { signal } = new AbortController();

    test('there is none at first, and then those that were made, newest first', async (store) => {
      expect(await store.list()).toEqual([]);
      const first = await store.make(SOURCE, at(1), signal);
      expect(first).toMatchObject({ madeAt: at(1).toISOString(), version: expect.any(String) as string });
      expect(first.bytes).toBeGreaterThan(0);
      const second = await store.make(SOURCE, at(2), signal);
      expect(await store.list()).toEqual([second, first]);
    });

    test('the oldest go beyond those that are kept', async (store) => {
      for (const second of [1, 2, 3]) await store.make(SOURCE, at(second), signal);
      expect((await store.list()).map(({ madeAt }) => madeAt)).toEqual(
        [3, 2].map((second) => at(second).toISOString()),
      );
    });

    test('where none can be made it says why, and those that are there stay', async (store) => {
      const first = await store.make(SOURCE, at(1), signal);
      await under.breaks();
      await expect(store.make(SOURCE, at(2), signal)).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(/^The backup failed: ./) as string,
        hint: expect.any(String) as string,
      });
      expect(await store.list()).toEqual([first]);
    });

    test('what the source throws ends it, whenever that is, and nothing of it is listed', async (store) => {
      const refused = (): Promise<never> => Promise.reject(new Error('refused by the source'));
      for (const source of [
        { ...SOURCE, contents: refused },
        { ...SOURCE, settled: refused },
      ]) {
        await expect(store.make(source, at(1), signal)).rejects.toThrow('refused by the source');
      }
      expect(await store.list()).toEqual([]);
    });

    test('the signal ends it, and nothing of it is listed', async (store) => {
      const stop = new AbortController();
      const making = store.make(SOURCE, at(1), stop.signal);
      stop.abort();
      await expect(making).rejects.toThrow();
      expect(await store.list()).toEqual([]);
    });

    it('runs every case', () => expect(counted).toBe(CASES));
  });
}
