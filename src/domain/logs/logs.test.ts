import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../../../test/support/domain-world.ts';
import { until } from '../../../test/support/until.ts';
import { cursorOf } from './cursor.ts';
import type { LogQuery } from './reading.ts';

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
    await expect(begin(stop.signal)).rejects.toMatchObject({ code: 'too_many_requests' });
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

describe('a query', () => {
  const query = async (given: Partial<LogQuery>): Promise<string> => {
    const entries = await world.useCases.logs.query(ANN, 'shop', { lines: 0, source: 'web', ...given });
    return entries.map(({ message }) => message).join(' ');
  };
  const MANY = 2_500;
  /** More than are read at once. */
  async function appendMany(): Promise<void> {
    const common = { seq: 0, at: '2026-03-04T05:06:07.089Z', app: 'shop', unit: 'shop/0', unitId: 'a', release: 1 };
    const entries = Array.from({ length: MANY }, (_, n) => ({ ...common, source: 'web', message: `n${n}` }));
    await world.parts.journal.append(entries, (text) => text);
  }

  it('searches, and counts its lines from the newest that match', async () => {
    await appendMany();
    expect(await query({ search: 'N24', lines: 3 })).toBe('n2497 n2498 n2499');
    expect(await query({ search: 'n7', lines: 1 })).toBe('n799');
    expect(await query({ search: '^n1?7$', regexp: true })).toBe('n7 n17');
    expect(await query({ search: 'none' })).toBe('');
  });

  it('goes on after a cursor, so that pages leave out nothing and repeat nothing', async () => {
    await appendMany();
    const seen: string[] = [];
    let after = '';
    for (;;) {
      const asked = { lines: 7, source: 'web', search: '9', after: after === '' ? cursorOf(0) : after };
      const page = await world.useCases.logs.query(ANN, 'shop', asked);
      seen.push(...page.map(({ message }) => message));
      if (page.length < 7) break;
      after = cursorOf(page.at(-1)?.seq ?? 0);
    }
    expect(seen).toEqual(Array.from({ length: MANY }, (_, n) => `n${n}`).filter((text) => text.includes('9')));
  });

  it('takes what units printed that ran the code of a deploy', async () => {
    const first = await world.deploy('shop', { processes: { web: 'print one; serve' } });
    await world.setEnv('shop', { A: 'b' });
    const second = await world.deploy('shop', { processes: { web: 'print two; serve' } });
    const printed = (deploy: string) => query({ deploy, process: 'web', source: '' });
    // Twice: the change of the environment made a further release of the same code.
    await expect.poll(() => printed(first.id)).toBe('one listening one listening');
    await expect.poll(() => printed(second.id)).toBe('two listening');
    await world.createApp('blog');
    const blog = await world.deploy('blog');
    for (const deploy of ['none', blog.id]) {
      await expect(query({ deploy })).rejects.toMatchObject({ code: 'deploy.not_found' });
    }
  });

  it('refuses what means nothing', async () => {
    for (const wrong of [{ since: 'x' }, { until: '1' }, { after: 'x' }, { search: '(', regexp: true }]) {
      await expect(query(wrong)).rejects.toMatchObject({ code: 'input.invalid' });
    }
    await expect(follow({ lines: 0, until: '1m' })).rejects.toMatchObject({ code: 'input.invalid' });
  });

  it('that is followed goes on after a cursor with all that came since, page by page, then with what comes', async () => {
    await append('before');
    const [last] = await world.useCases.logs.query(ANN, 'shop', { lines: 1, source: 'web' });
    await appendMany();
    const after = cursorOf(last?.seq ?? 0);
    const { seen } = await follow({ lines: 3, source: 'web', after });
    await untilSeen(seen, MANY);
    await append('more');
    await untilSeen(seen, MANY + 1);
    expect(seen).toEqual([...Array.from({ length: MANY }, (_, n) => `n${n}`), 'more']);
  });

  it('that is followed has only what it searches for', async () => {
    await append('an error');
    const { seen } = await follow({ lines: 10, source: 'web', search: 'error' });
    await untilSeen(seen, 1);
    for (const text of ['fine', 'ERROR 2', 'fine', 'error 3']) await append(text);
    await untilSeen(seen, 3);
    expect(seen).toEqual(['an error', 'ERROR 2', 'error 3']);
  });
});
