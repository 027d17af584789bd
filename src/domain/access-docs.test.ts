import { readFile, writeFile } from 'node:fs/promises';
import { format } from 'prettier';
import { expect, it } from 'vitest';
import { accessDocs } from './access-docs.ts';

const page = new URL('../../docs/access.md', import.meta.url);

it('docs/access.md is in step with the table of access (UPDATE_GOLDEN=1 writes it)', async () => {
  const text = await format(accessDocs(), { parser: 'markdown', printWidth: 120, proseWrap: 'preserve' });
  if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(page, text);
  expect(await readFile(page, 'utf8')).toBe(text);
});
