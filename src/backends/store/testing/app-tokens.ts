import { expect } from 'vitest';
import { expectError } from './case.ts';
import type { StoreCases } from './case.ts';
import { appToken, AT, LATER, populate } from './records.ts';

export const appTokenCases: StoreCases = {
  'gives back every field, until it expires': async (store) => {
    await populate(store, 'shop');
    await store.transact((tx) => tx.insertAppToken(appToken('t')));
    expect(await store.appToken('t', AT)).toEqual(appToken('t'));
    expect(await store.appToken('t', LATER)).toBeNull();
    expect(await store.appToken('other', AT)).toBeNull();
  },

  'lists the tokens of an app, the newest first, and ends single ones': async (store) => {
    await populate(store, 'shop', 'blog');
    await store.transact(async (tx) => {
      await tx.insertAppToken(appToken('old'));
      await tx.insertAppToken(appToken('new', { createdAt: LATER, expiresAt: AT }));
      await tx.insertAppToken(appToken('other', { app: 'blog' }));
    });
    const list = async () => (await store.appTokens('shop')).map(({ tokenHash }) => tokenHash);
    expect(await list()).toEqual(['new', 'old']);
    expect(await store.transact((tx) => tx.deleteAppToken('old'))).toBe(true);
    expect(await store.transact((tx) => tx.deleteAppToken('old'))).toBe(false);
    expect(await list()).toEqual(['new']);
    expect(await store.appTokens('gone')).toEqual([]);
  },

  'forgets the tokens of an app, and the expired': async (store) => {
    await populate(store, 'shop', 'blog');
    await store.transact(async (tx) => {
      await tx.insertAppToken(appToken('s1'));
      await tx.insertAppToken(appToken('s2'));
      await tx.insertAppToken(appToken('b1', { app: 'blog' }));
      await tx.insertAppToken(appToken('b2', { app: 'blog', expiresAt: AT }));
    });
    expect(await store.transact((tx) => tx.deleteExpiredAppTokens(AT))).toBe(1);
    expect(await store.transact((tx) => tx.deleteAppTokens('shop'))).toBe(2);
    expect(await store.transact((tx) => tx.deleteAppTokens('shop'))).toBe(0);
    expect(await store.appToken('s1', AT)).toBeNull();
    expect(await store.appToken('b1', AT)).not.toBeNull();
  },

  'go with their app, and belong to one that is there': async (store) => {
    await populate(store, 'shop');
    await store.transact((tx) => tx.insertAppToken(appToken('t')));
    await store.transact((tx) => tx.deleteApp('shop'));
    expect(await store.appToken('t', AT)).toBeNull();
    await expectError(
      store.transact((tx) => tx.insertAppToken(appToken('t'))),
      'app.not_found',
    );
  },
};
