import { expect, it } from 'vitest';
import type { Listener } from '../../../lib/listeners.ts';
import { otherPort, assignedPort } from './own-ports.ts';

function listener(port: number, changes: Partial<Listener> = {}): Listener {
  return { port, reach: 'any', family: 4, inode: `${port}`, uid: '0', ...changes };
}

it.each([
  [{}, [], 8080],
  [{}, [80, 443], 80],
  [{ PORT: '3000' }, [80], 3000],
  [{ PORT: '0' }, [], 8080],
  [{ PORT: '99999' }, [80], 80],
  [{ PORT: 'x' }, [], 8080],
])('of %j and the exposed %j it is %i', (env, exposed, port) => {
  expect(assignedPort(env, exposed)).toBe(port);
});

it.each<[string, Listener[], number[], number | null]>([
  ['the only one', [listener(3000)], [], 3000],
  ['the only one, on both families', [listener(3000), listener(3000, { family: 6 })], [], 3000],
  ['one on the loopback', [listener(3000, { reach: 'loopback' })], [], 3000],
  [
    'none that cannot be reached',
    [listener(3000, { reach: 'other' }), listener(3001, { reach: 'loopback', family: 6 })],
    [],
    null,
  ],
  ['none of several', [listener(3000), listener(3001)], [], null],
  ['the exposed one of several', [listener(3000), listener(3001)], [3001], 3001],
  ['no debugger', [listener(9229, { reach: 'loopback' }), listener(3000)], [], 3000],
  ['none that the kernel has chosen', [listener(40_000), listener(3000)], [], 3000],
  ['a high one that is exposed', [listener(40_000)], [40_000], 40_000],
  ['none, where there is none', [], [80], null],
])('serves on %s', (_, own, exposed, port) => {
  expect(otherPort({ own }, exposed)).toBe(port);
});
