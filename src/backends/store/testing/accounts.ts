import { expect } from 'vitest';
import { expectError } from './case.ts';
import type { StoreCases } from './case.ts';
import { apiKey, AT, LATER, passwordReset, populate, session } from './records.ts';

export const accountCases: StoreCases = {
  'ends the sessions of a user but the one kept': async (store) => {
    await populate(store);
    await store.transact(async (tx) => {
      for (const token of ['t1', 't2', 't3']) await tx.insertSession(session(token));
      await tx.insertSession(session('bobs', { email: 'bob@example.com' }));
    });
    expect(await store.transact((tx) => tx.deleteSessionsOf('ann@example.com', 't2'))).toBe(2);
    const left = await Promise.all(['t1', 't2', 't3', 'bobs'].map((token) => store.session(token, AT)));
    expect(left.map((one) => one !== null)).toEqual([false, true, false, true]);
    expect(await store.transact((tx) => tx.deleteSessionsOf('ann@example.com', ''))).toBe(1);
    expect(await store.transact((tx) => tx.deleteSessionsOf('eve@example.com', ''))).toBe(0);
  },

  'gives back an API key, and finds its owner by the hash': async (store) => {
    await populate(store);
    expect(await store.apiKey('ann@example.com')).toBeNull();
    expect(await store.apiKeyOwner('hash of a')).toBeNull();
    await store.transact((tx) => tx.putApiKey(apiKey('a')));
    expect(await store.apiKey('ann@example.com')).toEqual(apiKey('a'));
    expect(await store.apiKeyOwner('hash of a')).toBe('ann@example.com');
    expect(await store.apiKeyOwner('a')).toBeNull();
  },

  'forgets an API key': async (store) => {
    await populate(store);
    await store.transact((tx) => tx.putApiKey(apiKey('a')));
    await store.transact((tx) => tx.deleteApiKey('ann@example.com'));
    await store.transact((tx) => tx.deleteApiKey('ann@example.com'));
    expect(await store.apiKey('ann@example.com')).toBeNull();
    expect(await store.apiKeyOwner('hash of a')).toBeNull();
  },

  'keeps one API key per user, the newest': async (store) => {
    await populate(store);
    await store.transact(async (tx) => {
      await tx.putApiKey(apiKey('a'));
      await tx.putApiKey(apiKey('bobs', { email: 'bob@example.com' }));
      await tx.putApiKey(apiKey('b', { createdAt: LATER }));
    });
    expect(await store.apiKey('ann@example.com')).toEqual(apiKey('b', { createdAt: LATER }));
    expect(await store.apiKeyOwner('hash of a')).toBeNull();
    expect(await store.apiKeyOwner('hash of bobs')).toBe('bob@example.com');
  },

  'takes a reset once, of its user and in time only': async (store) => {
    await populate(store);
    await store.transact((tx) => tx.insertPasswordReset(passwordReset('r')));
    const take = (email: string, now: string) => store.transact((tx) => tx.takePasswordReset('r', email, now));
    const has = (email: string, now: string) => store.transact((tx) => tx.hasPasswordReset('r', email, now));
    for (const answers of [has, take]) {
      expect(await answers('bob@example.com', AT)).toBe(false);
      expect(await answers('ann@example.com', LATER)).toBe(false);
    }
    expect(await has('ann@example.com', AT)).toBe(true);
    const attempts = await Promise.all(Array.from({ length: 6 }, () => take('ann@example.com', AT)));
    expect(attempts.filter(Boolean)).toHaveLength(1);
    expect(await has('ann@example.com', AT)).toBe(false);
  },

  'forgets resets, of a user or expired': async (store) => {
    await populate(store);
    await store.transact(async (tx) => {
      await tx.insertPasswordReset(passwordReset('a1'));
      await tx.insertPasswordReset(passwordReset('a2', { expiresAt: AT }));
      await tx.insertPasswordReset(passwordReset('b', { email: 'bob@example.com' }));
    });
    expect(await store.transact((tx) => tx.deleteExpiredPasswordResets(AT))).toBe(1);
    await store.transact((tx) => tx.deletePasswordResets('ann@example.com'));
    expect(await store.transact((tx) => tx.takePasswordReset('a1', 'ann@example.com', AT))).toBe(false);
    expect(await store.transact((tx) => tx.takePasswordReset('b', 'bob@example.com', AT))).toBe(true);
  },

  'forgets the API key and the resets of a user who goes': async (store) => {
    await populate(store);
    await store.transact(async (tx) => {
      await tx.putApiKey(apiKey('a'));
      await tx.insertPasswordReset(passwordReset('r'));
      await tx.setUserLimit('ann@example.com', 3);
      await tx.deleteUser('ann@example.com');
    });
    expect(await store.apiKeyOwner('hash of a')).toBeNull();
    expect(await store.userLimit('ann@example.com')).toBeUndefined();
    expect(await store.transact((tx) => tx.takePasswordReset('r', 'ann@example.com', AT))).toBe(false);
  },

  'refuses API keys and resets of a user who is not there': async (store) => {
    await expectError(
      store.transact((tx) => tx.putApiKey(apiKey('a'))),
      'user.not_found',
    );
    await expectError(
      store.transact((tx) => tx.insertPasswordReset(passwordReset('r'))),
      'user.not_found',
    );
  },
};
