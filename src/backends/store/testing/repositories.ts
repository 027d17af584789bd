import { expect } from 'vitest';
import type { RepositoryRecord } from '../../../domain/deploys/repository-store.ts';
import type { StoreCases } from './case.ts';
import { AT, LATER } from './records.ts';

const pack = (id: string): RepositoryRecord['packs'][number] => ({ id, digest: `digest of ${id}`, bytes: 3, parts: 2 });

const repository = (app: string, more: Partial<RepositoryRecord> = {}): RepositoryRecord => ({
  app,
  id: `id of ${app}`,
  version: 1,
  head: 'refs/heads/main',
  refs: { 'refs/heads/main': 'a'.repeat(40), 'refs/tags/ü"': 'b'.repeat(40) },
  packs: [pack('one'), pack('two')],
  shallow: ['c'.repeat(40)],
  ...more,
});

export const repositoryCases: StoreCases = {
  'gives back repositories, the newest of each': async (store) => {
    expect([await store.repository('shop'), await store.repositories()]).toEqual([null, []]);
    await store.transact(async (tx) => {
      await tx.putRepository(repository('shop'));
      await tx.putRepository(repository('blog', { refs: {}, packs: [], shallow: [] }));
    });
    expect(await store.repository('shop')).toEqual(repository('shop'));
    expect(await store.repository('blog')).toEqual(repository('blog', { refs: {}, packs: [], shallow: [] }));
    const changed = repository('shop', { id: 'other', version: 7, head: 'refs/heads/dev', packs: [pack('three')] });
    await store.transact((tx) => tx.putRepository(changed));
    expect([await store.repository('shop'), await store.repositories()]).toEqual([changed, ['blog', 'shop']]);
  },

  'keeps packs in parts, byte for byte, and removes them with their repository': async (store) => {
    const bytes = Uint8Array.from({ length: 1000 }, (_, index) => index % 256);
    const part = { app: 'shop', pack: 'one', part: 0, data: bytes, at: AT };
    await store.transact(async (tx) => {
      await tx.putRepository(repository('shop'));
      await tx.putPackPart(part);
      await tx.putPackPart({ ...part, part: 1, data: Uint8Array.of(0, 255) });
      await tx.putPackPart({ ...part, app: 'blog' });
    });
    const read = async (app: string, id: string, number: number): Promise<number[] | null> => {
      const data = await store.packPart(app, id, number);
      return data === null ? null : [...data];
    };
    expect(await read('shop', 'one', 0)).toEqual([...bytes]);
    expect(await read('shop', 'one', 1)).toEqual([0, 255]);
    expect([await read('shop', 'one', 2), await read('shop', 'two', 0)]).toEqual([null, null]);
    await store.transact((tx) => tx.deleteRepository('shop'));
    expect([await store.repository('shop'), await read('shop', 'one', 0)]).toEqual([null, null]);
    expect(await read('blog', 'one', 0)).toEqual([...bytes]);
    await store.transact((tx) => tx.deletePack('blog', 'one'));
    expect(await read('blog', 'one', 0)).toBeNull();
  },

  'finds packs that no repository has, once they are old enough': async (store) => {
    const part = { app: 'shop', pack: 'one', part: 0, data: Uint8Array.of(1), at: AT };
    await store.transact(async (tx) => {
      await tx.putRepository(repository('shop', { packs: [pack('one')] }));
      await tx.putPackPart(part);
      await tx.putPackPart({ ...part, pack: 'stray' });
      await tx.putPackPart({ ...part, app: 'blog' });
      await tx.putPackPart({ ...part, pack: 'young', at: LATER });
    });
    const strays = (await store.strayPacks(LATER)).map((one) => `${one.app} ${one.pack}`).sort();
    expect(strays).toEqual(['blog one', 'shop stray']);
    await store.transact((tx) => tx.deletePack('shop', 'stray'));
    expect(await store.strayPacks(LATER)).toEqual([{ app: 'blog', pack: 'one' }]);
    expect(await store.strayPacks(AT)).toEqual([]);
  },
};
