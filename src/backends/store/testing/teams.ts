import { expect } from 'vitest';
import { expectError } from './case.ts';
import type { StoreCases } from './case.ts';
import { populate, team } from './records.ts';

export const teamCases: StoreCases = {
  'gives back teams and members, sorted': async (store) => {
    await populate(store);
    await store.transact((tx) => tx.insertTeam(team('amber', 'bob@example.com', 'ann@example.com')));
    await store.transact((tx) => tx.insertTeam(team('empty')));
    expect(await store.team('amber')).toEqual(team('amber', 'ann@example.com', 'bob@example.com'));
    expect(await store.team('gone')).toBeNull();
    expect(await store.teams()).toEqual([
      team('amber', 'ann@example.com', 'bob@example.com'),
      team('blue', 'bob@example.com'),
      team('empty'),
      team('red', 'ann@example.com'),
    ]);
    expect(await store.teams('bob@example.com')).toEqual([
      team('amber', 'ann@example.com', 'bob@example.com'),
      team('blue', 'bob@example.com'),
    ]);
    expect(await store.teamsOf('bob@example.com')).toEqual(['amber', 'blue']);
    expect(await store.teamsOf('eve@example.com')).toEqual([]);
  },

  'takes a name once': async (store) => {
    await populate(store);
    await expectError(
      store.transact((tx) => tx.insertTeam(team('red', 'bob@example.com'))),
      'team.name_taken',
    );
    expect((await store.team('red'))?.members).toEqual(['ann@example.com']);
  },

  'takes members in and lets them go': async (store) => {
    await populate(store);
    await store.transact((tx) => tx.addMember('red', 'bob@example.com'));
    expect((await store.team('red'))?.members).toEqual(['ann@example.com', 'bob@example.com']);
    await expectError(
      store.transact((tx) => tx.addMember('red', 'bob@example.com')),
      'team.member_exists',
    );
    expect(await store.transact((tx) => tx.removeMember('red', 'bob@example.com'))).toBe(true);
    expect(await store.transact((tx) => tx.removeMember('red', 'bob@example.com'))).toBe(false);
    expect(await store.transact((tx) => tx.removeMember('gone', 'bob@example.com'))).toBe(false);
  },

  'knows its teams and users': async (store) => {
    await populate(store);
    await expectError(
      store.transact((tx) => tx.addMember('gone', 'bob@example.com')),
      'team.not_found',
    );
    await expectError(
      store.transact((tx) => tx.addMember('red', 'eve@example.com')),
      'user.not_found',
    );
    await expectError(
      store.transact((tx) => tx.insertTeam(team('green', 'eve@example.com'))),
      'user.not_found',
    );
    expect(await store.team('green')).toBeNull();
  },

  'goes with its members, but not while it has apps': async (store) => {
    await populate(store, 'shop');
    await expectError(
      store.transact((tx) => tx.deleteTeam('red')),
      'team.in_use',
    );
    expect((await store.team('red'))?.members).toEqual(['ann@example.com']);
    await store.transact(async (tx) => {
      await tx.deleteTeam('blue');
      await tx.deleteTeam('blue');
    });
    expect(await store.teamsOf('bob@example.com')).toEqual([]);
    await store.transact(async (tx) => {
      await tx.deleteApp('shop');
      await tx.deleteTeam('red');
    });
    expect(await store.teams()).toEqual([]);
  },
};
