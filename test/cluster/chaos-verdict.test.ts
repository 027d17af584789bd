import { expect, it } from 'vitest';
import type { LostRequest } from './balanced-load.ts';
import { isExcused } from './chaos-verdict.ts';
import type { Kill } from './kills.ts';

const lost = (begun: number, ended: number, edge = 0, connected: number | null = null): LostRequest => ({
  ...{ app: 'still', edge, begun, ended, connected, why: '502' },
});
const kill = (more: Partial<Kill>): Kill => ({
  ...{ kind: 'edge', what: '', begun: 100, gone: 110, edge: null, hasUnits: false },
  ...more,
});

it('a request is excused that was under way in the edge that was killed, and none by another one, before or after', () => {
  const edge = kill({ edge: 1 });
  expect([lost(90, 105, 1), lost(109, 200, 1)].map((one) => isExcused(one, edge))).toEqual([true, true]);
  expect([lost(90, 105, 0), lost(80, 99, 1), lost(111, 120, 1)].map((one) => isExcused(one, edge))).toEqual([
    false,
    false,
    false,
  ]);
});

it('a request is excused that was sent by a connection to the edge that was killed, however late, and none by one to the edge after it', () => {
  const edge = kill({ edge: 1 });
  expect(isExcused(lost(300, 301, 1, 20), edge)).toBe(true);
  expect(
    [lost(300, 301, 1, 120), lost(300, 301, 0, 20), lost(90, 95, 1, 20)].map((one) => isExcused(one, edge)),
  ).toEqual([false, false, false]);
});

it('a request by any edge is excused while units are killed, and none when neither edge nor units are', () => {
  expect(isExcused(lost(105, 106), kill({ hasUnits: true }))).toBe(true);
  expect(isExcused(lost(105, 106), kill({ kind: 'etcd' }))).toBe(false);
});
