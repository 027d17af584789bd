import { describe, expect, it } from 'vitest';
import { askedTogether } from './asked-together.ts';

describe('asked together', () => {
  it('asks once for all who come before the question is put', async () => {
    let asked = 0;
    const ask = askedTogether(async () => ++asked);
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
    expect(await ask()).toBe(2);
  });

  it('gives nobody the answer to a question that was put before they came', async () => {
    const answers: ((value: string) => void)[] = [];
    const ask = askedTogether(() => new Promise<string>((resolve) => answers.push(resolve)));
    const first = ask();
    await new Promise((resolve) => setImmediate(resolve));
    const late = [ask(), ask()];
    await new Promise((resolve) => setImmediate(resolve));
    expect(answers).toHaveLength(1);
    answers[0]?.('old');
    expect(await first).toBe('old');
    await new Promise((resolve) => setImmediate(resolve));
    answers[1]?.('new');
    expect(await Promise.all(late)).toEqual(['new', 'new']);
  });

  it('reports a failure to those who asked, and asks again for the next', async () => {
    let fails = true;
    const ask = askedTogether(async () => {
      if (fails) throw new Error('away');
      return 'here';
    });
    const both = await Promise.allSettled([ask(), ask()]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await ask()).toBe('here');
  });
});
