import { expect, it } from 'vitest';
import { KeyedTurns } from './keyed-turns.ts';

it('lets so many of a key begin, so many wait in order, and refuses the rest', async () => {
  const turns = new KeyedTurns({ atOnce: 2, waiting: 2 });
  const ends = [turns.begin('a'), turns.begin('a')];
  expect(turns.begin('a')).toBeNull();
  expect(turns.begin('b')).not.toBeNull();
  const order: string[] = [];
  const waiting = ['first', 'second'].map((name) =>
    turns.wait('a')?.then((end) => {
      order.push(name);
      return end;
    }),
  );
  expect(turns.wait('a')).toBeNull();
  ends[0]?.();
  ends[0]?.();
  const end = await waiting[0];
  expect(order).toEqual(['first']);
  end?.();
  (await waiting[1])?.();
  ends[1]?.();
  expect(order).toEqual(['first', 'second']);
  for (const again of [turns.begin('a'), turns.begin('a')]) again?.();
  expect(turns.wait('a')).toBeNull();
});
