import { expect, it } from 'vitest';
import { After, LastWords } from './unit-output.ts';

const line = (number: number) => ({ at: `2026-01-02T03:04:05.00000000${number}Z`, text: `line ${number}` });

it('a line that comes while its reader is busy is seen with the next look, not with the line after it', async () => {
  const words = new LastWords();
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
  const words = new LastWords();
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
