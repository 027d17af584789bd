import { expect, it } from 'vitest';
import { retry } from './retry.ts';

const pauses = { firstPauseMs: 1, longestPauseMs: 4 };

it('tries until it works, and reports every failure', async () => {
  const errors: unknown[] = [];
  const work = async (attempt: number): Promise<number> => {
    if (attempt < 3) throw new Error(`no ${attempt}`);
    return attempt;
  };
  const signal = new AbortController().signal;
  const result = await retry(work, { ...pauses, signal, onError: (error) => errors.push(String(error)) });
  expect(result).toBe(3);
  expect(errors).toEqual(['Error: no 0', 'Error: no 1', 'Error: no 2']);
});

it('gives up in the middle of a pause, with the last error', async () => {
  const stop = new AbortController();
  const work = (): Promise<never> => Promise.reject(new Error('never'));
  const options = { firstPauseMs: 60_000, longestPauseMs: 60_000, signal: stop.signal };
  const trying = retry(work, { ...options, onError: () => stop.abort() });
  await expect(trying).rejects.toThrow('never');
});
