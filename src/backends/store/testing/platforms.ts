import { expect } from 'vitest';
import type { StoreCases } from './case.ts';
import { AT } from './records.ts';

export const platformCases: StoreCases = {
  'keeps what is known of platforms, the newest of each': async (store, { again }) => {
    const ruby = { name: 'ruby', definition: 'description: "Rübe"\n', isDisabled: false, createdAt: AT };
    const go = { name: 'go', definition: null, isDisabled: true, createdAt: AT };
    await store.transact(async (tx) => {
      await tx.putPlatform({ ...ruby, definition: 'old', isDisabled: true });
      await tx.putPlatform(ruby);
      await tx.putPlatform(go);
    });
    const other = await again();
    expect(await other.platformRecords()).toEqual([go, ruby]);
    expect(await other.platformRecord('ruby')).toEqual(ruby);
    await store.transact((tx) => tx.deletePlatform('ruby'));
    await store.transact((tx) => tx.deletePlatform('ruby'));
    expect(await other.platformRecord('ruby')).toBeNull();
  },
};
