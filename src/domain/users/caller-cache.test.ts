import { expect, it } from 'vitest';
import { CallerCache, type KnownCaller } from './caller-cache.ts';

const LATER = '2030-01-01T00:00:00Z';

function caller(tokenHash: string): KnownCaller {
  return { kind: 'user', email: 'ann@example.com', isAdmin: false, teams: [], via: 'session', tokenHash };
}

it('drops an answer that was read before something changed', () => {
  const cache = new CallerCache(() => new Date('2024-01-01T00:00:00Z'));
  const before = cache.generation;
  cache.clear();
  cache.put(caller('a'), LATER, before);
  expect(cache.get('a')).toBeNull();
  cache.put(caller('a'), LATER, cache.generation);
  expect(cache.get('a')).toEqual(caller('a'));
});

it('never outlives the token, and forgets the oldest when it is full', () => {
  let time = Date.parse('2024-01-01T00:00:00Z');
  const cache = new CallerCache(() => new Date(time));
  cache.put(caller('short'), '2024-01-01T00:00:01Z', cache.generation);
  time += 999;
  expect(cache.get('short')).not.toBeNull();
  time += 1;
  expect(cache.get('short')).toBeNull();
  for (let i = 0; i <= 10_000; i += 1) cache.put(caller(`t${i}`), LATER, cache.generation);
  expect(cache.get('t0')).toBeNull();
  expect(cache.get('t10000')).not.toBeNull();
});
