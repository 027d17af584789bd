import { expect, it } from 'vitest';
import { AccessLog } from './access-log.ts';

it('reports each line once, and in order', () => {
  const log = new AccessLog();
  log.add('shop', () => 'one');
  log.add('blog', () => 'two');
  expect(log.take().map(({ app, line }) => `${app} ${line}`)).toEqual(['shop one', 'blog two']);
  expect(log.take()).toEqual([]);
});

it('keeps so many of an app, makes no more, and says how many are left out; other apps are not concerned', () => {
  const log = new AccessLog();
  let made = 0;
  for (let n = 0; n < 10_000; n++) log.add('busy', () => `line ${++made}`);
  log.add('calm', () => 'calm');
  const lines = log.take();
  const kept = lines.filter(({ app }) => app === 'busy');
  const gaps = kept.filter(({ line }) => line.startsWith('gap='));
  expect(gaps).toHaveLength(1);
  expect(kept.length - 1).toBe(made);
  // A second may have ended meanwhile.
  expect(made).toBeLessThanOrEqual(1_000);
  expect(gaps[0]?.line).toBe(`gap=${10_000 - made} more requests than are logged`);
  expect(lines.filter(({ app }) => app === 'calm')).toHaveLength(1);
  expect(log.take()).toEqual([]);
});

it('is bounded in all where nobody comes for it', () => {
  const log = new AccessLog();
  for (let app = 0; app < 600; app++) for (let n = 0; n < 20; n++) log.add(`app-${app}`, () => 'x');
  const lines = log.take();
  expect(lines.filter(({ line }) => line === 'x')).toHaveLength(5_000);
  const left = lines.map(({ line }) => Number(/^gap=([0-9]+)/.exec(line)?.[1] ?? 0));
  expect(left.reduce((sum, count) => sum + count, 0)).toBe(600 * 20 - 5_000);
});
