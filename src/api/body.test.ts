import { expect, it } from 'vitest';
import { inCaseOf } from './body.ts';
import { Type } from './schema.ts';

const schema = Type.Object({ name: Type.String(), teamOwner: Type.String() });

it('gives fields the names of the schema, whatever their case', () => {
  expect(inCaseOf(schema, { NAME: 'a', TeamOwner: 'b', Other: 1 })).toEqual({ name: 'a', teamOwner: 'b', Other: 1 });
});

it('counts what is written as in the schema first, wherever it stands', () => {
  expect(inCaseOf(schema, { name: 'exact', Name: 'other' })).toEqual({ name: 'exact' });
  expect(inCaseOf(schema, { Name: 'other', name: 'exact' })).toEqual({ name: 'exact' });
});

it('leaves alone what has no fields, and names that only look like those of objects', () => {
  for (const other of [null, 'text', 5, [{ Name: 'a' }]]) expect(inCaseOf(schema, other)).toBe(other);
  const odd = inCaseOf(schema, JSON.parse('{"__proto__": {"name": "a"}, "constructor": 1}'));
  expect(Object.keys(odd as object)).toEqual(['__proto__', 'constructor']);
  expect((odd as { name?: string }).name).toBeUndefined();
});
