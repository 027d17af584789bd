import { describe, expect, it } from 'vitest';
import { KeyedQueue } from './keyed-queue.ts';

function gate(): { open: () => void; opened: Promise<void> } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

describe('KeyedQueue', () => {
  it('runs tasks of one key in order, those of other keys at once', async () => {
    const queue = new KeyedQueue();
    const first = gate();
    const order: string[] = [];
    const slow = queue.run('a', async () => {
      await first.opened;
      order.push('a1');
    });
    const next = queue.run('a', async () => void order.push('a2'));
    await queue.run('b', async () => void order.push('b1'));
    first.open();
    await Promise.all([slow, next]);
    expect(order).toEqual(['b1', 'a1', 'a2']);
  });

  it('goes on after a task that failed', async () => {
    const queue = new KeyedQueue();
    await expect(queue.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(queue.run('a', async () => 7)).resolves.toBe(7);
  });

  it('lets a waiting task give up without disturbing the order of the others', async () => {
    const queue = new KeyedQueue();
    const first = gate();
    const order: string[] = [];
    const slow = queue.run('a', async () => {
      await first.opened;
      order.push('first');
    });
    const impatience = new AbortController();
    const impatient = queue.run('a', async () => void order.push('never'), impatience.signal);
    const last = queue.run('a', async () => void order.push('last'));
    impatience.abort(new Error('too long'));
    await expect(impatient).rejects.toThrow('too long');
    first.open();
    await Promise.all([slow, last]);
    expect(order).toEqual(['first', 'last']);
  });

  it('keeps those who come later waiting when the last in the queue gives up', async () => {
    const queue = new KeyedQueue();
    const first = gate();
    const order: string[] = [];
    const slow = queue.run('a', async () => {
      await first.opened;
      order.push('first');
    });
    const impatience = new AbortController();
    const impatient = queue.run('a', async () => void order.push('never'), impatience.signal);
    impatience.abort(new Error('too long'));
    await expect(impatient).rejects.toThrow('too long');
    const later = queue.run('a', async () => void order.push('later'));
    // A macrotask: a task that did not wait would have run by then.
    await new Promise((resolve) => setImmediate(resolve));
    first.open();
    await Promise.all([slow, later]);
    expect(order).toEqual(['first', 'later']);
  });
});
