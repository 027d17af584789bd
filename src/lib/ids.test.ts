import { expect, it } from 'vitest';
import { timeOrderedId } from './ids.ts';

it('ids sort by creation, also within a millisecond and when the clock goes back', () => {
  const time = Date.now() + 1_000;
  const ids = [time, time, time, time - 500, time, time + 1, time].map((at) => timeOrderedId(at));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{24}$/);
});
