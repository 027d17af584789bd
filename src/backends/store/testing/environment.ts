import fc from 'fast-check';
import { expect } from 'vitest';
import type { EnvVar } from '../../../domain/apps/app.ts';
import { expectError } from './case.ts';
import type { StoreCases } from './case.ts';
import { populate, variable } from './records.ts';

export const environmentCases: StoreCases = {
  'keeps variables sorted by name, with who manages them': async (store) => {
    await populate(store, 'shop', 'blog');
    const b = variable('B', 'two', { public: true, managedBy: 'postgres-shop' });
    const a = variable('A', '');
    await store.transact((tx) => tx.setEnv('shop', [b, a]));
    expect(await store.env('shop')).toEqual([a, b]);
    expect(await store.env('blog')).toEqual([]);
    expect(await store.env('gone')).toEqual([]);
  },

  'replaces a variable as a whole': async (store) => {
    await populate(store, 'shop');
    await store.transact((tx) => tx.setEnv('shop', [variable('A', 'old', { public: true, managedBy: 'db' })]));
    await store.transact((tx) => tx.setEnv('shop', [variable('A', 'first'), variable('A', 'last')]));
    expect(await store.env('shop')).toEqual([variable('A', 'last')]);
  },

  'keeps values of any text': async (store) => {
    await populate(store, 'shop');
    const values = ['line\nline\r\n', '\t"\'`$(x)', '𝄞 ünï', ' '.repeat(100_000), '0', 'nul\0inside'];
    const vars = values.map((value, number) => variable(`V${number}`, value));
    await store.transact((tx) => tx.setEnv('shop', vars));
    expect((await store.env('shop')).map((found) => found.value)).toEqual(values);
  },

  'takes thousands at once': async (store) => {
    await populate(store, 'shop');
    const vars = Array.from({ length: 2_000 }, (_, number) => variable(`V${String(number).padStart(4, '0')}`, 'x'));
    await store.transact((tx) => tx.setEnv('shop', vars));
    expect(await store.env('shop')).toEqual(vars);
    const gone = vars.slice(1).map((found) => found.name);
    await store.transact((tx) => tx.unsetEnv('shop', gone));
    expect(await store.env('shop')).toEqual(vars.slice(0, 1));
  },

  'ignores names that are not set, and empty lists': async (store) => {
    await populate(store, 'shop');
    await store.transact(async (tx) => {
      await tx.setEnv('shop', [variable('A', '1')]);
      await tx.setEnv('shop', []);
      await tx.unsetEnv('shop', []);
      await tx.unsetEnv('shop', ['B', "'; --", 'A\0']);
      await tx.unsetEnv('gone', ['A']);
    });
    expect(await store.env('shop')).toEqual([variable('A', '1')]);
  },

  'refuses an app that is not there': async (store) => {
    await populate(store);
    await expectError(
      store.transact((tx) => tx.setEnv('gone', [variable('A', '1')])),
      'app.not_found',
    );
  },

  'does what a map does, over any sequence of changes': async (store) => {
    await populate(store, 'shop');
    const name = fc.constantFrom('A', 'B', 'C', 'D_1', 'e');
    const set = fc.array(fc.tuple(name, fc.string({ unit: 'grapheme', maxLength: 12 }), fc.boolean()), {
      maxLength: 4,
    });
    const unset = fc.array(name, { maxLength: 3 });
    const step = fc.oneof(
      set.map((vars) => ({ vars, names: [] as string[] })),
      unset.map((names) => ({ vars: [], names })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const model = new Map<string, EnvVar>();
        await store.transact(async (tx) => {
          const before = (await tx.env('shop')).map((found) => found.name);
          await tx.unsetEnv('shop', before);
        });
        for (const { vars, names } of steps) {
          const asked = vars.map(([key, value, isPublic]) => variable(key, value, { public: isPublic }));
          await store.transact(async (tx) => {
            await tx.setEnv('shop', asked);
            await tx.unsetEnv('shop', names);
          });
          for (const one of asked) model.set(one.name, one);
          for (const key of names) model.delete(key);
          const expected = [...model.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
          expect(await store.env('shop')).toEqual(expected);
        }
      }),
      { numRuns: 25 },
    );
  },
};
