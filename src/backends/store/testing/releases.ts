import { expect } from 'vitest';
import { expectError } from './case.ts';
import type { StoreCases } from './case.ts';
import { populate, release, variable } from './records.ts';

export const releaseCases: StoreCases = {
  'gives back every field': async (store) => {
    await populate(store, 'shop');
    const first = release('shop', 1, { deployId: 'd1' });
    const bare = release('shop', 2, { env: [], processes: {}, healthCheck: null, commit: '' });
    await store.transact(async (tx) => {
      await tx.insertRelease(first);
      await tx.insertRelease(bare);
    });
    expect(await store.release('shop', 1)).toEqual(first);
    expect(await store.release('shop', 2)).toEqual(bare);
    expect(await store.release('shop', 3)).toBeNull();
    expect(await store.release('blog', 1)).toBeNull();
  },

  'names the artifacts of apps': async (store) => {
    await populate(store, 'shop', 'blog', 'wiki');
    await store.transact(async (tx) => {
      for (const artifact of ['one', 'two', 'one']) {
        const [newest] = await tx.releases('shop', 1);
        await tx.insertRelease(release('shop', (newest?.number ?? 0) + 1, { artifact }));
      }
      await tx.insertRelease(release('blog', 1, { artifact: 'three' }));
      await tx.insertRelease(release('wiki', 1, { artifact: 'four' }));
    });
    const found = await store.artifacts(['shop', 'blog', 'gone']);
    expect(found.map(({ app, release: number, artifact }) => `${app} ${number} ${artifact}`).sort()).toEqual([
      'blog 1 three',
      'shop 1 one',
      'shop 2 two',
      'shop 3 one',
    ]);
    expect(await store.artifacts([])).toEqual([]);
  },

  'lists the newest first, as many as asked for': async (store) => {
    await populate(store, 'shop', 'blog');
    await store.transact(async (tx) => {
      for (let number = 1; number <= 12; number++) await tx.insertRelease(release('shop', number));
      await tx.insertRelease(release('blog', 1));
    });
    const numbers = (await store.releases('shop', 5)).map(({ number }) => number);
    expect(numbers).toEqual([12, 11, 10, 9, 8]);
    expect(await store.releases('shop', 100)).toHaveLength(12);
  },

  'takes only the next number': async (store) => {
    await populate(store, 'shop');
    const insert = (number: number) => store.transact((tx) => tx.insertRelease(release('shop', number)));
    await expectError(insert(2), 'app.busy');
    await insert(1);
    await expectError(insert(1), 'app.busy');
    await expectError(insert(3), 'app.busy');
    await insert(2);
  },

  'lets one of several at the same time have a number': async (store) => {
    await populate(store, 'shop');
    const attempts = await Promise.allSettled(
      Array.from({ length: 6 }, () => store.transact((tx) => tx.insertRelease(release('shop', 1)))),
    );
    const failed = attempts.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    expect(failed).toHaveLength(5);
    for (const error of failed) expect(error).toMatchObject({ code: 'app.busy' });
  },

  'counts on after a deletion': async (store) => {
    await populate(store, 'shop');
    await store.transact(async (tx) => {
      await tx.insertRelease(release('shop', 1));
      await tx.insertRelease(release('shop', 2));
      await tx.insertRelease(release('shop', 3));
      await tx.deleteRelease('shop', 1);
      await tx.deleteRelease('shop', 3);
      await tx.deleteRelease('shop', 99);
      await tx.insertRelease(release('shop', 3, { artifact: 'again' }));
    });
    expect((await store.releases('shop', 10)).map(({ number }) => number)).toEqual([3, 2]);
  },

  'is not changed by later changes of the environment': async (store) => {
    await populate(store, 'shop');
    await store.transact(async (tx) => {
      await tx.setEnv('shop', [variable('A', 'then')]);
      await tx.insertRelease(release('shop', 1, { env: await tx.env('shop') }));
    });
    await store.transact((tx) => tx.setEnv('shop', [variable('A', 'now')]));
    expect((await store.release('shop', 1))?.env).toEqual([variable('A', 'then')]);
  },

  'refuses an app that is not there': async (store) => {
    await populate(store);
    await expectError(
      store.transact((tx) => tx.insertRelease(release('gone', 1))),
      'app.not_found',
    );
  },
};
