import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ownName } from './own-name.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tancho-name-'));
});
afterAll(() => rm(directory, { recursive: true }));

it('stays the same once it is made, and differs between places', async () => {
  const name = await ownName(join(directory, 'here'));
  expect(name).toMatch(/^[0-9a-f]{16}$/);
  expect(await ownName(join(directory, 'here'))).toBe(name);
  expect(await ownName(join(directory, 'there'))).not.toBe(name);
});

it('is made anew when the file is damaged', async () => {
  const file = join(directory, 'damaged');
  await writeFile(file, '');
  const name = await ownName(file);
  expect(await ownName(file)).toBe(name);
});
