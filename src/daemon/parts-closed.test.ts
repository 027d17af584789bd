import { expect, it } from 'vitest';
import { SILENT } from '../lib/logger.ts';
import { closeParts, type ClosedPart } from './parts-closed.ts';

const never = new Promise<void>(() => {});

function closed(...closes: (() => Promise<unknown>)[]): { parts: ClosedPart[]; order: string[] } {
  const order: string[] = [];
  const parts = closes.map((close, index): ClosedPart => [
    String(index),
    () => {
      order.push(String(index));
      return close();
    },
  ]);
  return { parts, order };
}

it('closes one after the other, and stops at one that fails', async () => {
  const { parts, order } = closed(
    () => Promise.resolve(),
    () => Promise.reject(new Error('disk')),
    () => Promise.resolve(),
  );
  await expect(closeParts(parts, { isReplaced: false, logger: SILENT })).rejects.toThrow('disk');
  expect(order).toEqual(['0', '1']);
});

it('leaves behind what fails or never ends, where another server has the work', async () => {
  const { parts, order } = closed(
    () => Promise.reject(new Error('disk')),
    () => never,
    () => Promise.resolve(),
  );
  await closeParts(parts, { isReplaced: true, logger: SILENT, partMs: 20 });
  expect(order).toEqual(['0', '1', '2']);
});
