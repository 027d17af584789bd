import { expect, it } from 'vitest';
import { After, LastWords } from './unit-output.ts';

const line = (number: number) => ({ at: `2026-01-02T03:04:05.00000000${number}Z`, text: `line ${number}` });

it('a line that comes while its reader is busy is seen with the next look, not with the line after it', async () => {
  const words = new LastWords('a');
  const stop = new AbortController();
  const reader = words.read(new After(null), stop.signal);
  words.add(line(1));
  expect((await reader.next()).value).toMatchObject({ lines: [{ text: 'line 1' }] });
  // The reader has the first one, and has not asked for more.
  words.add(line(2));
  expect((await reader.next()).value).toMatchObject({ lines: [{ text: 'line 2' }] });
  const third = reader.next();
  words.add(line(3));
  expect((await third).value).toMatchObject({ lines: [{ text: 'line 3' }] });
  words.complete();
  expect((await reader.next()).done).toBe(true);
});

it('its end is seen, too, when it comes while the reader is busy', async () => {
  const words = new LastWords('a');
  const reader = words.read(new After(null), new AbortController().signal);
  words.add(line(1));
  await reader.next();
  words.complete();
  expect((await reader.next()).done).toBe(true);
});

it('what is there at once comes in bounded pieces, each with the place after it', () => {
  const after = new After(null);
  const at = '2026-01-02T03:04:05.000000000Z';
  const lines = Array.from({ length: 1_100 }, (_, index) => ({ at, text: `line ${index}` }));
  const chunks = [...after.chunks(lines)];
  expect(chunks.map((chunk) => chunk.lines.length)).toEqual([500, 500, 100]);
  expect(chunks.flatMap((chunk) => chunk.lines.map(({ text }) => text))).toEqual(lines.map(({ text }) => text));
  // Whoever has stored the second piece and is gone reads on with the third.
  const later = new After(chunks[1]?.cursor ?? '');
  expect([...later.chunks(lines)].map((chunk) => chunk.lines[0]?.text)).toEqual(['line 1000']);
});

it('a clock that was set back, and one of another node, lose no line', () => {
  const at = (second: string) => ({ at: `2026-01-02T03:04:${second}.000000000Z`, text: second });
  const texts = (after: After, ...seconds: string[]): string[] =>
    [...after.chunks(seconds.map(at))].flatMap(({ lines }) => lines.map(({ text }) => text));
  const after = new After(null);
  after.enter('a');
  expect(texts(after, '20', '30')).toEqual(['20', '30']);
  expect(texts(after, '10', '11')).toEqual(['10', '11']);
  const later = new After(after.cursor);
  later.enter('a');
  expect(texts(later, '10', '11', '12')).toEqual(['12']);
  later.enter('b');
  expect(later.since).toBeNull();
  expect(texts(later, '05', '06')).toEqual(['05', '06']);
  // What an earlier version has stored names no pod.
  const old = new After('2026-01-02T03:04:10.000000000Z 1');
  old.enter('b');
  expect(texts(old, '09', '10', '11')).toEqual(['11']);
});

it('one that was set back since is no reason to wait until it is as late again', () => {
  expect(new After('2026-01-02T03:04:10.000000000Z 1 a').since).toBe('2026-01-02T03:04:10.000000000Z');
  expect(new After(`${new Date(Date.now() + 60_000).toISOString()} 1 a`).since).toBeNull();
});

it('empty lines of what has ended count, too, until they are stored', () => {
  const words = new LastWords('a');
  for (let count = 0; count < 100_000; count++) words.add({ at: '2026-01-02T03:04:05.000000000Z', text: '' });
  expect(words.last(100_000).length).toBeLessThan(50_000);
  words.complete();
  words.consumed('2026-01-02T03:04:05.000000000Z 100000 a');
  expect([words.isRead, words.bytes]).toEqual([true, 0]);
});

it('a clock that is set back while a unit ends neither loses its last lines nor repeats them', async () => {
  const words = new LastWords('a');
  const reader = words.read(new After(null), new AbortController().signal);
  const texts = async (): Promise<string[]> =>
    ((await reader.next()).value?.lines ?? []).map(({ text }: { text: string }) => text);
  words.add(line(7));
  words.add({ ...line(1), at: '2026-01-02T03:04:01.000000000Z' });
  expect(await texts()).toEqual(['line 7', 'line 1']);
  words.add({ ...line(2), at: '2026-01-02T03:04:02.000000000Z' });
  words.complete();
  expect(await texts()).toEqual(['line 2']);
  expect((await reader.next()).done).toBe(true);
});
