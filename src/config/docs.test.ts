import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { configDocs } from './docs.ts';

const page = new URL('../../docs/config.md', import.meta.url);

it('docs/config.md is in step with the settings (UPDATE_GOLDEN=1 writes it)', async () => {
  if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(page, configDocs());
  expect(await readFile(page, 'utf8')).toBe(configDocs());
});
