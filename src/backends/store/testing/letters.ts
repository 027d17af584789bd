import { expect } from 'vitest';
import type { StoreCases } from './case.ts';

const letter = (day: number) => ({ name: `2026010${day}T000000000Z-0.eml`, text: `To: ann\n\nday ${day}\n` });

export const letterCases: StoreCases = {
  'letters are kept with their texts, and of too many the oldest go': async (store) => {
    expect(await store.letterNames()).toEqual([]);
    for (const day of [2, 1, 3]) await store.transact((tx) => tx.insertLetter(letter(day), 3));
    expect(await store.letterNames()).toEqual([1, 2, 3].map((day) => letter(day).name));
    expect(await store.letter(letter(2).name)).toBe(letter(2).text);
    await store.transact((tx) => tx.insertLetter(letter(4), 2));
    expect(await store.letterNames()).toEqual([3, 4].map((day) => letter(day).name));
    expect(await store.letter(letter(1).name)).toBeNull();
  },
};
