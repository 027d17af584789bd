import { expect, it } from 'vitest';
import { withoutTrailing } from './without-trailing.ts';
import { processorMs } from '../../test/support/processor-ms.ts';

it.each([
  ['', ''],
  ['a', 'a'],
  ['a\r\r', 'a'],
  ['\r\r', ''],
  ['\ra\r', '\ra'],
])('%j becomes %j', (text, expected) => {
  expect(withoutTrailing(text, '\r')).toBe(expected);
});

it('does not care how many there are elsewhere', () => {
  const text = `${'\r'.repeat(1_000_000)}a`;
  const begun = processorMs();
  expect(withoutTrailing(text, '\r')).toBe(text);
  expect(processorMs() - begun).toBeLessThan(60_000);
});
