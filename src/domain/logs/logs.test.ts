import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../../../test/support/domain-world.ts';
import { until } from '../../../test/support/until.ts';
import type { LogQuery } from './logs.ts';

let world: DomainWorld;
let stop: AbortController;
beforeEach(async () => {
  world = await startDomain();
  stop = new AbortController();
  await world.createApp('shop');
});
afterEach(async () => {
  stop.abort();
  await world.dispose();
});

async function append(message: string, source = 'web'): Promise<void> {
  await world.parts.journal.note('shop', message, source);
}

/** Collects in the background; `over` resolves when the follower has ended by itself or was stopped. */
async function follow(query: LogQuery): Promise<{ seen: string[]; over: Promise<void> }> {
  const seen: string[] = [];
  const batches = await world.useCases.logs.follow(ANN, 'shop', query, stop.signal);
  const over = (async () => {
    for await (const batch of batches) seen.push(...batch.map((entry) => entry.message));
  })();
  return { seen, over };
}

async function untilSeen(seen: readonly string[], count: number): Promise<void> {
  await until(() => seen.length >= count, {
    timeoutMs: 60_000,
    everyMs: 5,
    what: `${count} entries`,
    detail: () => seen.join('\n'),
  });
}

describe('a follower', () => {
  it('gets every entry once and in order while others append', async () => {
    const { seen, over } = await follow({ lines: 0, source: 'web' });
    const writers = ['a', 'b', 'c', 'd'].map(async (writer) => {
      for (let n = 0; n < 50; n++) await append(`${writer} ${n}`);
    });
    await Promise.all(writers);
    await untilSeen(seen, 200);
    stop.abort();
    await over;
    expect(new Set(seen).size).toBe(200);
    expect(seen).toHaveLength(200);
    for (const writer of ['a', 'b', 'c', 'd']) {
      const own = seen.filter((message) => message.startsWith(writer));
      expect(own).toEqual(Array.from({ length: 50 }, (_, n) => `${writer} ${n}`));
    }
  });

  it.each([0, 1, 2])('misses nothing that comes between its queries (%i entries before)', async (before) => {
    for (let n = 0; n < before; n++) await append(`${n}`);
    let next = before;
    world.faults.on('logStore.query', async () => {
      if (next < 8) await append(`${next++}`);
    });
    const { seen } = await follow({ lines: 0, source: 'web' });
    await untilSeen(seen, 8);
    expect(seen).toEqual(Array.from({ length: 8 }, (_, n) => `${n}`));
  });

  it('begins with as many entries as asked for', async () => {
    for (let n = 0; n < 5; n++) await append(`${n}`);
    const { seen } = await follow({ lines: 2, source: 'web' });
    await untilSeen(seen, 2);
    await append('5');
    await untilSeen(seen, 3);
    expect(seen).toEqual(['3', '4', '5']);
  });

  it('is one of so many of its caller, until one of them ends', async () => {
    const first = new AbortController();
    const begin = (signal: AbortSignal, caller = ANN) =>
      world.useCases.logs.follow(caller, 'shop', { lines: 0 }, signal);
    await begin(first.signal);
    for (let n = 1; n < 50; n++) await begin(stop.signal);
    await expect(begin(stop.signal)).rejects.toMatchObject({ code: 'unavailable' });
    await begin(stop.signal, { ...ANN, email: 'bob@example.com' });
    first.abort();
    const { over } = await follow({ lines: 0 });
    stop.abort();
    await over;
    stop = new AbortController();
    for (let n = 0; n < 50; n++) await begin(stop.signal);
  });

  it('ends with the app, and sees nothing of another one with its name', async () => {
    await append('ours');
    const { seen, over } = await follow({ lines: 0, source: 'web' });
    await untilSeen(seen, 1);
    await world.remove('shop');
    await world.createApp('shop');
    await append('theirs');
    await over;
    expect(seen).toEqual(['ours']);
  });
});
