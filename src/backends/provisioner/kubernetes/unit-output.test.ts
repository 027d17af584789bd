import { expect, it } from 'vitest';
import { After, LastWords } from './unit-output.ts';

const line = (number: number) => ({ at: `2026-01-02T03:04:05.00000000${number}Z`, text: `line ${number}` });

it('a line that comes while its reader is busy is seen with the next look, not with the line after it', async () => {
  const words = new LastWords();
  const stop = new AbortController();
  const reader = words.read(new After(null), stop.signal);
  words.add(line(1));
  expect((await reader.next()).value).toMatchObject({ text: 'line 1' });
  // The reader has the first one, and has not asked for more.
  words.add(line(2));
  expect((await reader.next()).value).toMatchObject({ text: 'line 2' });
  const third = reader.next();
  words.add(line(3));
  expect((await third).value).toMatchObject({ text: 'line 3' });
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
