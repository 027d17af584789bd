import { tmpdir } from 'node:os';
import { openSync } from 'node:fs';
import { expect, it } from 'vitest';
import { lastLiveCounts, LiveCounts, liveCounts, openLiveCounts } from './live-counts.ts';
import { Traffic } from './routing/traffic.ts';

function traffic(fd: number): Traffic {
  const made = new Traffic();
  made.reportTo(() => {}, new LiveCounts(fd));
  return made;
}

it('says of each app what is under way, at once, and what has come of it', () => {
  const fd = openLiveCounts(tmpdir());
  const counts = traffic(fd);
  const [blog, shop] = [counts.counter('blog'), counts.counter('shop')];
  counts.counter('idle');
  blog.begun();
  blog.begun();
  shop.begun();
  expect([...liveCounts(fd)]).toEqual([
    ['blog', { open: 2, unanswered: 2, requests: 0, failures: 0 }],
    ['shop', { open: 1, unanswered: 1, requests: 0, failures: 0 }],
  ]);
  blog.answered(200, 1, true);
  blog.begun();
  shop.failed();
  shop.ended(false);
  expect([...lastLiveCounts(fd)]).toEqual([
    ['blog', { open: 3, unanswered: 2, requests: 1, failures: 0 }],
    ['shop', { open: 0, unanswered: 0, requests: 0, failures: 1 }],
  ]);
});

it('forgets an app that has left the table once nothing of it is under way, and gives its place to another', () => {
  const fd = openLiveCounts(tmpdir());
  const counts = traffic(fd);
  const blog = counts.counter('blog');
  blog.begun();
  counts.keepOnly(new Set());
  expect(liveCounts(fd).get('blog')).toMatchObject({ open: 1 });
  blog.ended(false);
  expect(liveCounts(fd).size).toBe(0);
  counts.counter('ä-name').begun();
  expect([...lastLiveCounts(fd).keys()]).toEqual(['ä-name']);
});

it('is not gone by where nothing could be written', () => {
  const fd = openSync(import.meta.filename, 'r');
  const counts = traffic(fd);
  counts.counter('blog').begun();
  expect(lastLiveCounts(fd).size).toBe(0);
  const usable = openLiveCounts(tmpdir());
  traffic(usable).counter('x'.repeat(200)).begun();
  expect(lastLiveCounts(usable).size).toBe(0);
});
