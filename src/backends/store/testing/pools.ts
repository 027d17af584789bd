import { expect } from 'vitest';
import type { Pool } from '../../../domain/pools/pool.ts';
import { expectError } from './case.ts';
import type { StoreCases } from './case.ts';
import { AT, populate } from './records.ts';

function pool(name: string, more: Partial<Pool> = {}): Pool {
  return { name, isPublic: false, teams: [], placement: null, createdAt: AT, ...more };
}

export const poolCases: StoreCases = {
  'gives back pools and their teams, sorted': async (store) => {
    await populate(store);
    expect(await store.pools()).toEqual([]);
    await store.transact(async (tx) => {
      await tx.insertPool(pool('south', { teams: ['red', 'blue'] }));
      await tx.insertPool(pool('north', { isPublic: true }));
    });
    const south = pool('south', { teams: ['blue', 'red'] });
    expect(await store.pools()).toEqual([pool('north', { isPublic: true }), south]);
    expect(await store.pool('south')).toEqual(south);
    expect(await store.pool('gone')).toBeNull();
    await store.transact((tx) => tx.setPoolTeams('south', ['red']));
    expect((await store.pool('south'))?.teams).toEqual(['red']);
    await store.transact((tx) => tx.deletePool('south'));
    expect(await store.pool('south')).toBeNull();
    await store.transact((tx) => tx.deletePool('south'));
  },

  'opens and closes, and an open one has no teams': async (store) => {
    await populate(store);
    await store.transact((tx) => tx.insertPool(pool('south', { teams: ['red', 'blue'] })));
    await store.transact((tx) => tx.setPoolPublic('south', true));
    expect(await store.pool('south')).toEqual(pool('south', { isPublic: true }));
    await store.transact((tx) => tx.setPoolPublic('south', false));
    expect(await store.pool('south')).toEqual(pool('south'));
    await expectError(
      store.transact((tx) => tx.setPoolPublic('gone', true)),
      'pool.not_found',
    );
  },

  'remembers where its apps run': async (store) => {
    await populate(store);
    const upper = { engine: 'elsewhere', options: { shelf: 'upper' } };
    await store.transact((tx) => tx.insertPool(pool('south', { placement: upper, teams: ['red', 'blue'] })));
    expect(await store.pool('south')).toEqual(pool('south', { placement: upper, teams: ['blue', 'red'] }));
    await store.transact((tx) => tx.setPoolPlacement('south', { engine: 'here', options: {} }));
    expect((await store.pools()).map(({ placement }) => placement)).toEqual([{ engine: 'here', options: {} }]);
    await store.transact((tx) => tx.setPoolPlacement('south', null));
    expect(await store.pool('south')).toEqual(pool('south', { teams: ['blue', 'red'] }));
    await expectError(
      store.transact((tx) => tx.setPoolPlacement('gone', null)),
      'pool.not_found',
    );
  },

  'knows its teams and its names': async (store) => {
    await populate(store);
    await store.transact((tx) => tx.insertPool(pool('south')));
    await expectError(
      store.transact((tx) => tx.insertPool(pool('south', { isPublic: true }))),
      'pool.name_taken',
    );
    await expectError(
      store.transact((tx) => tx.setPoolTeams('south', ['red', 'green'])),
      'team.not_found',
    );
    await expectError(
      store.transact((tx) => tx.setPoolTeams('gone', [])),
      'pool.not_found',
    );
    expect(await store.pool('south')).toEqual(pool('south'));
    await store.transact((tx) => tx.setPoolTeams('south', ['blue', 'red']));
    await store.transact((tx) => tx.deleteTeam('blue'));
    expect((await store.pool('south'))?.teams).toEqual(['red']);
  },
};
