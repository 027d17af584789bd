/** A case that runs with TANCHO_TEST_SLOW=1 only, as what is in a `*.long.test.ts` does, beside quick ones that need the same set-up. */
import { it, type TestFunction, type TestOptions } from 'vitest';
import { SLOW } from './slow.ts';

export function itLong(title: string, ...how: [TestFunction] | [TestOptions, TestFunction]): void {
  if (!SLOW) return;
  if (how.length === 1) it(title, how[0]);
  else it(title, how[0], how[1]);
}
