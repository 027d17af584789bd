import { expect } from 'vitest';
import { expectError } from './case.ts';
import type { StoreCases } from './case.ts';
import { AT, LATER, populate, session, sshKey, user } from './records.ts';

export const userCases: StoreCases = {
  'gives back every field, sorted by e-mail': async (store) => {
    await populate(store);
    expect(await store.user('ann@example.com')).toEqual(user('ann@example.com', { isAdmin: true }));
    expect(await store.user('eve@example.com')).toBeNull();
    expect((await store.users()).map(({ email }) => email)).toEqual(['ann@example.com', 'bob@example.com']);
  },

  'takes an e-mail once': async (store) => {
    await populate(store);
    await expectError(
      store.transact((tx) => tx.insertUser(user('bob@example.com', { isAdmin: true }))),
      'user.email_taken',
    );
    expect((await store.user('bob@example.com'))?.isAdmin).toBe(false);
  },

  'makes users admins, and takes it back': async (store) => {
    await populate(store);
    await store.transact((tx) => tx.setAdmin('bob@example.com', true));
    await store.transact((tx) => tx.setAdmin('ann@example.com', false));
    expect((await store.users()).map(({ isAdmin }) => isAdmin)).toEqual([false, true]);
    await expectError(
      store.transact((tx) => tx.setAdmin('eve@example.com', true)),
      'user.not_found',
    );
  },

  'knows the longest-standing admin': async (store) => {
    expect(await store.firstAdmin()).toBeNull();
    await store.transact(async (tx) => {
      await tx.insertUser(user('early@example.com', { createdAt: '2020-01-01T00:00:00.000Z' }));
      await tx.insertUser(user('second@example.com', { isAdmin: true, createdAt: LATER }));
      await tx.insertUser(user('first@example.com', { isAdmin: true, createdAt: AT }));
    });
    expect((await store.firstAdmin())?.email).toBe('first@example.com');
  },

  'changes a password': async (store) => {
    await populate(store);
    await store.transact((tx) => tx.updatePassword('bob@example.com', 'new'));
    expect((await store.user('bob@example.com'))?.passwordHash).toBe('new');
    await expectError(
      store.transact((tx) => tx.updatePassword('eve@example.com', 'new')),
      'user.not_found',
    );
  },

  'forgets a user with sessions, keys and memberships': async (store) => {
    await populate(store);
    await store.transact(async (tx) => {
      await tx.insertSession(session('t1'));
      await tx.insertSession(session('t2', { email: 'bob@example.com' }));
      await tx.insertSshKey(sshKey('laptop'));
      await tx.deleteUser('ann@example.com');
      await tx.deleteUser('ann@example.com');
    });
    expect(await store.session('t1', AT)).toBeNull();
    expect(await store.session('t2', AT)).not.toBeNull();
    expect(await store.sshKeyByFingerprint('SHA256:laptop')).toBeNull();
    expect(await store.teamsOf('ann@example.com')).toEqual([]);
    expect((await store.team('red'))?.members).toEqual([]);
  },

  'ends a session at its time': async (store) => {
    await populate(store);
    await store.transact((tx) => tx.insertSession(session('t')));
    expect(await store.session('t', AT)).toEqual(session('t'));
    expect(await store.session('t', LATER)).toBeNull();
    expect(await store.session('other', AT)).toBeNull();
    await store.transact((tx) => tx.deleteSession('t'));
    expect(await store.session('t', AT)).toBeNull();
    await store.transact((tx) => tx.deleteSession('t'));
  },

  'removes the sessions that have expired': async (store) => {
    await populate(store);
    await store.transact(async (tx) => {
      await tx.insertSession(session('old1', { expiresAt: AT }));
      await tx.insertSession(session('old2', { expiresAt: AT }));
      await tx.insertSession(session('young'));
    });
    expect(await store.transact((tx) => tx.deleteExpiredSessions(AT))).toBe(2);
    expect(await store.transact((tx) => tx.deleteExpiredSessions(AT))).toBe(0);
    expect(await store.session('young', AT)).not.toBeNull();
  },

  'ends the oldest sessions of a user, but so many': async (store) => {
    await populate(store);
    await store.transact(async (tx) => {
      for (const day of ['1', '3', '2'])
        await tx.insertSession(session(day, { createdAt: `2026-01-0${day}T00:00:00.000Z` }));
      await tx.insertSession(session('bobs', { email: 'bob@example.com' }));
    });
    expect(await store.transact((tx) => tx.deleteOldestSessions('ann@example.com', 2))).toBe(1);
    expect(await store.transact((tx) => tx.deleteOldestSessions('ann@example.com', 2))).toBe(0);
    expect(await store.session('1', AT)).toBeNull();
    for (const kept of ['2', '3', 'bobs']) expect(await store.session(kept, AT)).not.toBeNull();
  },

  'finds SSH keys by user and by fingerprint': async (store) => {
    await populate(store);
    await store.transact(async (tx) => {
      await tx.insertSshKey(sshKey('laptop'));
      await tx.insertSshKey(sshKey('desktop'));
      await tx.insertSshKey(sshKey('bobs', { name: 'laptop', email: 'bob@example.com' }));
    });
    expect(await store.sshKeys('ann@example.com')).toEqual([sshKey('desktop'), sshKey('laptop')]);
    expect(await store.sshKeyByFingerprint('SHA256:bobs')).toMatchObject({ email: 'bob@example.com', name: 'laptop' });
    expect(await store.sshKeyByFingerprint('SHA256:none')).toBeNull();
    expect(await store.sshKeys('eve@example.com')).toEqual([]);
  },

  'takes a fingerprint once, and a name once per user': async (store) => {
    await populate(store);
    await store.transact((tx) => tx.insertSshKey(sshKey('laptop')));
    await expectError(
      store.transact((tx) => tx.insertSshKey(sshKey('laptop', { email: 'bob@example.com' }))),
      'key.taken',
    );
    await expectError(
      store.transact((tx) => tx.insertSshKey(sshKey('laptop', { fingerprint: 'SHA256:x' }))),
      'key.taken',
    );
  },

  'removes a key of its user only': async (store) => {
    await populate(store);
    await store.transact((tx) => tx.insertSshKey(sshKey('laptop')));
    const remove = (email: string) => store.transact((tx) => tx.deleteSshKey(email, 'SHA256:laptop'));
    expect(await remove('bob@example.com')).toBe(false);
    expect(await remove('ann@example.com')).toBe(true);
    expect(await remove('ann@example.com')).toBe(false);
  },

  'refuses sessions and keys of a user who is not there': async (store) => {
    await expectError(
      store.transact((tx) => tx.insertSession(session('t'))),
      'user.not_found',
    );
    await expectError(
      store.transact((tx) => tx.insertSshKey(sshKey('laptop'))),
      'user.not_found',
    );
  },
};
