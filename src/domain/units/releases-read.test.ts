import { expect, it } from 'vitest';
import { ReleasesRead } from './releases-read.ts';

it('the release of many units is read once', async () => {
  const asked: string[] = [];
  const releases = new ReleasesRead({
    release: async (app, number) => {
      asked.push(`${app} ${number}`);
      return null;
    },
  });
  const units = ['shop', 'shop', 'blog', 'shop'].map((app, at) => ({ app, release: at === 3 ? 2 : 1 }));
  expect(await Promise.all(units.map((unit) => releases.of(unit)))).toEqual([null, null, null, null]);
  expect(asked).toEqual(['shop 1', 'blog 1', 'shop 2']);
});

it('a release that could not be read is read again', async () => {
  let asked = 0;
  const releases = new ReleasesRead({
    release: async () => {
      asked += 1;
      if (asked === 1) throw new Error('the store is away');
      return null;
    },
  });
  await expect(releases.of({ app: 'shop', release: 1 })).rejects.toThrow('away');
  expect(await releases.of({ app: 'shop', release: 1 })).toBeNull();
});
