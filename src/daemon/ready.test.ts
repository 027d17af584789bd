import { expect, it } from 'vitest';
import { demandReady } from './ready.ts';

const away = { version: () => Promise.reject(new Error('connect to 10.0.0.1 as tancho')) };
const there = { version: async () => '1' };

it('is quiet when everything that is needed is there', async () => {
  await expect(demandReady(() => true, there)).resolves.toBeUndefined();
});

it('says what is missing, and no more', async () => {
  const starting = { code: 'unavailable', message: 'The platform is starting.' };
  await expect(demandReady(() => false, away)).rejects.toMatchObject(starting);
  const lost = { code: 'unavailable', message: 'The database is out of reach.' };
  await expect(demandReady(() => true, away)).rejects.toMatchObject(lost);
});
