/** What every VolumeHost must do. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { VolumeHost, VolumeName } from '../../domain/volumes/volume-host.ts';

interface VolumeHostUnderTest {
  readonly host: VolumeHost;
  /** Writes so many bytes into a file of the volume, as its app does. */
  write(volume: VolumeName, bytes: number): Promise<void>;
  dispose(): Promise<void>;
}

const CASES = 5;
const PHOTOS: VolumeName = { app: 'shop', name: 'photos' };
const LETTERS: VolumeName = { app: 'shop', name: 'letters' };

export function volumeHostConformance(name: string, create: () => Promise<VolumeHostUnderTest>): void {
  describe(`volume host ${name}`, () => {
    let under: VolumeHostUnderTest;
    let counted = 0;
    beforeEach(async () => {
      under = await create();
    });
    afterEach(() => under.dispose());
    const test = (title: string, run: () => Promise<void>): void => {
      it(title, async () => {
        await run();
        counted += 1;
      });
    };

    test('a new volume holds next to nothing, one that is not there nothing', async () => {
      await under.host.create(PHOTOS);
      expect(await under.host.size(PHOTOS)).toBeLessThan(100_000);
      expect(await under.host.size(LETTERS)).toBe(0);
    });

    test('what is written counts, and to make it again takes nothing away', async () => {
      await under.host.create(PHOTOS);
      await under.write(PHOTOS, 1_000_000);
      await under.host.create(PHOTOS);
      expect(await under.host.size(PHOTOS)).toBeGreaterThanOrEqual(1_000_000);
    });

    test('a removal takes one volume with what it holds, and no other', async () => {
      await under.host.create(PHOTOS);
      await under.host.create(LETTERS);
      await under.write(PHOTOS, 1_000_000);
      await under.write(LETTERS, 1_000_000);
      await under.host.remove(PHOTOS);
      await under.host.create(PHOTOS);
      expect(await under.host.size(PHOTOS)).toBeLessThan(100_000);
      expect(await under.host.size(LETTERS)).toBeGreaterThanOrEqual(1_000_000);
    });

    test('to remove what is not there is no mistake', async () => {
      await under.host.remove(PHOTOS);
      await under.host.remove(PHOTOS);
      expect(await under.host.size(PHOTOS)).toBe(0);
    });

    test('a restriction is of one volume, can be taken back, and goes with it', async () => {
      await under.host.create(PHOTOS);
      await under.host.create(LETTERS);
      expect(await under.host.isRestricted(PHOTOS)).toBe(false);
      for (const _ of [1, 2]) await under.host.restrict(PHOTOS, true);
      expect([await under.host.isRestricted(PHOTOS), await under.host.isRestricted(LETTERS)]).toEqual([true, false]);
      for (const _ of [1, 2]) await under.host.restrict(PHOTOS, false);
      expect(await under.host.isRestricted(PHOTOS)).toBe(false);
      await under.host.restrict(PHOTOS, true);
      await under.host.remove(PHOTOS);
      await under.host.create(PHOTOS);
      expect(await under.host.isRestricted(PHOTOS)).toBe(false);
    });

    it(`has all its ${CASES} cases`, () => {
      expect(counted).toBe(CASES);
    });
  });
}
