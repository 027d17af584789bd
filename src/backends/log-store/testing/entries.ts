import { expect } from 'vitest';
import { MAX_MESSAGE_BYTES } from '../../../domain/logs/entry.ts';
import { bounds, entries, entry, messages } from './case.ts';
import type { LogStoreCases } from './case.ts';

export const entryCases: LogStoreCases = {
  'gives back every field, with its seq': async (store) => {
    const own = entry('Deploy done', { source: 'tancho', unit: 'api', unitId: '', release: 0 });
    const given = [entry('hello "world" \\ \u001b[31mred ü 𝄞'), own, entry('')];
    const stored = await store.append(given);
    expect(stored.map((one) => ({ ...one, seq: 0 }))).toEqual(given);
    expect(await store.query({ app: 'shop', lines: 0 })).toEqual(stored);
  },

  'counts up over all apps and batches, whatever is removed': async (store, { again }) => {
    const seqs: number[] = [];
    const add = async (...apps: string[]) => {
      for (const { seq } of await store.append(apps.map((app) => entry('x', { app })))) seqs.push(seq);
    };
    await add('shop', 'blog', 'shop');
    await add('blog');
    await store.removeApp('blog');
    await add('blog', 'shop');
    await store.prune(bounds({ entriesPerApp: 0, bytesPerApp: 0 }));
    await store.close();
    const next = await again();
    for (const { seq } of await next.append(entries(2))) seqs.push(seq);
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    expect(seqs[0]).toBeGreaterThan(0);
  },

  'keeps the order of a batch that mixes units': async (store) => {
    const units = ['0', '1', '0', '2', '1', '0'];
    const given = units.map((unit, number) => entry(`${number}`, { unit: `shop/${unit}`, unitId: unit }));
    await store.append(given);
    expect(await messages(store)).toEqual(['0', '1', '2', '3', '4', '5']);
  },

  'keeps ten thousand lines in one go': async (store) => {
    const given = entries(10_000);
    const stored = await store.append(given, { unitId: 'aaaaaaaaaaaa', cursor: '1' });
    expect(stored).toHaveLength(10_000);
    expect(await store.query({ app: 'shop', lines: 0 })).toEqual(stored);
  },

  'makes further entries of what is too long, between characters': async (store) => {
    const whole = '€'.repeat(MAX_MESSAGE_BYTES);
    const stored = await store.append([entry('before'), entry(whole), entry('x'.repeat(MAX_MESSAGE_BYTES))]);
    const sizes = stored.map(({ message }) => Buffer.byteLength(message));
    const full = MAX_MESSAGE_BYTES - 1;
    expect(sizes).toEqual([6, full, full, full, 3, MAX_MESSAGE_BYTES]);
    const kept = await messages(store);
    expect(kept.slice(1, -1).join('')).toBe(whole);
    expect(new Set(stored.map(({ seq }) => seq)).size).toBe(6);
  },

  'keeps what is no text in a form that is': async (store) => {
    await store.append([entry('nul\0nul'), entry('half \ud83d'), entry('\udc00 half'), entry('whole \ud83d\ude00')]);
    expect(await messages(store)).toEqual(['nul\uFFFDnul', 'half \uFFFD', '\uFFFD half', 'whole \ud83d\ude00']);
  },

  'stores the cursor with the entries': async (store, { again }) => {
    expect(await store.cursor('aaaaaaaaaaaa')).toBeNull();
    await store.append(entries(1), { unitId: 'aaaaaaaaaaaa', cursor: '5' });
    await store.append([], { unitId: 'bbbbbbbbbbbb', cursor: '2026-03-04T05:06:07.089Z a/b=' });
    await store.append(entries(1), { unitId: 'aaaaaaaaaaaa', cursor: '17' });
    await store.append(entries(1));
    const other = await again();
    const cursors = [await other.cursor('aaaaaaaaaaaa'), await other.cursor('bbbbbbbbbbbb')];
    expect(cursors).toEqual(['17', '2026-03-04T05:06:07.089Z a/b=']);
    await store.forgetUnit('aaaaaaaaaaaa');
    await store.forgetUnit('aaaaaaaaaaaa');
    expect(await other.cursor('aaaaaaaaaaaa')).toBeNull();
  },

  'stores what was read after what is stored, and nothing of who comes too late': async (store, { again }) => {
    const [unitId, other] = ['aaaaaaaaaaaa', await again()];
    await store.append([entry('one')], { unitId, cursor: '5', after: null });
    const late = { name: 'PlatformError', code: 'app.busy' };
    await expect(other.append([entry('one')], { unitId, cursor: '5', after: null })).rejects.toMatchObject(late);
    await other.append([entry('two')], { unitId, cursor: '9', after: '5' });
    await expect(
      store.append([entry('two'), entry('three')], { unitId, cursor: '12', after: '5' }),
    ).rejects.toMatchObject(late);
    const both = [store, other].map((one) => one.append([entry('three')], { unitId, cursor: '12', after: '9' }));
    expect((await Promise.allSettled(both)).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await store.forgetUnit(unitId);
    await expect(other.append([entry('four')], { unitId, cursor: '17', after: '12' })).rejects.toMatchObject(late);
    expect(await messages(store)).toEqual(['one', 'two', 'three']);
    expect(await store.cursor(unitId)).toBeNull();
  },

  'stores all or nothing': async (store) => {
    const wrong = entry('x', { unit: 'nul\0name' });
    await expect(store.append([entry('y'), wrong], { unitId: 'aaaaaaaaaaaa', cursor: '9' })).rejects.toMatchObject({
      code: 'input.invalid',
    });
    expect(await messages(store)).toEqual([]);
    expect(await store.cursor('aaaaaaaaaaaa')).toBeNull();
  },

  'does nothing with nothing': async (store) => {
    expect(await store.append([])).toEqual([]);
    expect(await messages(store)).toEqual([]);
  },

  'shows entries in the order of their seq, however many write': async (store, { again }) => {
    const stores = [store, await again()];
    let seen = 0;
    let reading = true;
    const following = (async () => {
      const found: number[] = [];
      while (reading || found.length < 120) {
        for (const { seq } of await store.query({ app: 'shop', lines: 0, afterSeq: seen })) {
          found.push(seq);
          seen = seq;
        }
      }
      return found;
    })();
    await Promise.all(Array.from({ length: 40 }, (_, number) => stores[number % 2]?.append(entries(3))));
    reading = false;
    const found = await following;
    const all = (await store.query({ app: 'shop', lines: 0 })).map(({ seq }) => seq);
    expect(found).toEqual(all);
    expect(all).toHaveLength(120);
  },

  'answers unavailable once it is closed': async (store) => {
    await store.close();
    await store.close();
    await expect(store.append(entries(1))).rejects.toMatchObject({ code: 'unavailable' });
    await expect(store.query({ app: 'shop', lines: 1 })).rejects.toMatchObject({ code: 'unavailable' });
  },
};
