import { expect, it } from 'vitest';
import { aclRules } from './acl.ts';

/** Of a version: what it does not know may not be in its rules, as one wrong rule refuses all of them. */
const rules = (major: number, minor: number): string[] => aclRules('abc', 'p:', { major, minor });

it('Redis 6.0 has no channels in its rules, no COPY and no functions', () => {
  expect(rules(6, 0)).not.toContain('&p:*');
  expect(rules(6, 0)).not.toContain('-copy');
  expect(rules(6, 0)).toContain('-@pubsub');
  expect(rules(6, 2)).not.toContain('-@pubsub');
  expect(rules(6, 2)).toEqual(expect.arrayContaining(['&p:*', '-copy']));
  expect(rules(6, 2)).not.toContain('-function');
});

it('CLIENT SETINFO is from 7.2 on', () => {
  expect(rules(7, 0)).toEqual(expect.arrayContaining(['-function', '-fcall', '-fcall_ro']));
  expect(rules(7, 0)).not.toContain('+client|setinfo');
  expect(rules(7, 2)).toContain('+client|setinfo');
  expect(rules(8, 0)).toContain('+client|setinfo');
});

it('what is allowed again comes after what was taken away, and everything begins anew', () => {
  const all = rules(7, 2);
  expect(all.slice(0, 4)).toEqual(['reset', 'on', '#abc', '~p:*']);
  const lastOff = all.findLastIndex((rule) => rule.startsWith('-'));
  expect(all.findIndex((rule) => rule.startsWith('+') && rule !== '+@all')).toBeGreaterThan(lastOff);
});
