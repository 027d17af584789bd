import { expect } from 'vitest';
import type { Volume } from '../../../domain/volumes/volume.ts';
import type { StoreCases } from './case.ts';
import { app, AT, team, user } from './records.ts';

function volume(name: string, more: Partial<Volume> = {}): Volume {
  return {
    ...{
      app: 'shop',
      name,
      maxBytes: 5 * 1024 ** 4,
      isSingle: false,
      state: 'ready',
      by: 'ann@example.com',
      createdAt: AT,
    },
    ...more,
  };
}

export const volumeCases: StoreCases = {
  'volumes come back as they were put in, in order, and change': async (store) => {
    await store.transact(async (tx) => {
      await tx.insertUser(user('ann@example.com'));
      await tx.insertTeam(team('red', 'ann@example.com'));
      for (const name of ['shop', 'blog']) await tx.insertApp(app(name));
      await tx.insertVolume(volume('uploads'));
      await tx.insertVolume(volume('db', { isSingle: true, maxBytes: 0 }));
      await tx.insertVolume(volume('uploads', { app: 'blog' }));
    });
    expect(await store.volumes('shop')).toEqual([volume('db', { isSingle: true, maxBytes: 0 }), volume('uploads')]);
    expect((await store.volumes()).map((one) => `${one.app}/${one.name}`)).toEqual([
      'blog/uploads',
      'shop/db',
      'shop/uploads',
    ]);
    await store.transact((tx) => tx.updateVolume('shop', 'db', { isSingle: false, maxBytes: 7, state: 'removing' }));
    expect(await store.volume('shop', 'db')).toEqual(volume('db', { maxBytes: 7, state: 'removing' }));
    expect(await store.volume('blog', 'uploads')).toEqual(volume('uploads', { app: 'blog' }));
  },

  'a volume has one name in its app, and an app': async (store) => {
    await store.transact(async (tx) => {
      await tx.insertUser(user('ann@example.com'));
      await tx.insertTeam(team('red', 'ann@example.com'));
      await tx.insertApp(app('shop'));
      await tx.insertVolume(volume('uploads'));
    });
    const again = store.transact((tx) => tx.insertVolume(volume('uploads')));
    await expect(again).rejects.toMatchObject({ code: 'volume.name_taken' });
    const nowhere = store.transact((tx) => tx.insertVolume(volume('uploads', { app: 'nobody' })));
    await expect(nowhere).rejects.toMatchObject({ code: 'app.not_found' });
  },

  'volumes go one by one, and with their app': async (store) => {
    await store.transact(async (tx) => {
      await tx.insertUser(user('ann@example.com'));
      await tx.insertTeam(team('red', 'ann@example.com'));
      for (const name of ['shop', 'blog']) await tx.insertApp(app(name));
      for (const name of ['a', 'b']) await tx.insertVolume(volume(name));
      await tx.insertVolume(volume('a', { app: 'blog' }));
    });
    await store.transact((tx) => tx.deleteVolume('shop', 'a'));
    expect((await store.volumes()).map((one) => `${one.app}/${one.name}`)).toEqual(['blog/a', 'shop/b']);
    await store.transact((tx) => tx.deleteApp('shop'));
    expect((await store.volumes()).map((one) => `${one.app}/${one.name}`)).toEqual(['blog/a']);
    expect(await store.volume('shop', 'b')).toBeNull();
  },
};
