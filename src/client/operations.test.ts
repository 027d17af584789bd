import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { OpenApiDocument } from '../../test/contract/document.ts';
import { clientSource } from '../../test/support/client-source.ts';
import { openApi } from '../api/openapi.ts';
import { VARIANTS } from '../api/variants.ts';

const folder = new URL('operations/', import.meta.url);

it('the operations of the client are those of the OpenAPI document (UPDATE_GOLDEN=1 writes them)', async () => {
  const union = VARIANTS.find(({ name }) => name === 'union');
  if (union === undefined) throw new Error('There is no union.');
  const expected = await clientSource(JSON.parse(JSON.stringify(openApi(union, ''))) as OpenApiDocument);
  if (process.env['UPDATE_GOLDEN'] === '1') {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder);
    for (const [name, text] of expected) await writeFile(new URL(name, folder), text);
  }
  expect((await readdir(folder)).sort()).toEqual([...expected.keys()].sort());
  for (const [name, text] of expected) expect(await readFile(new URL(name, folder), 'utf8'), name).toBe(text);
});
