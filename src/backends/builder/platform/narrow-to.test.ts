import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { narrowTo } from './narrow-to.ts';

let directory: string;
let code: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tancho-root-'));
  code = join(directory, 'code');
  await mkdir(join(code, 'apps', 'web'), { recursive: true });
  await writeFile(join(code, 'package.json'), '');
  await writeFile(join(code, 'apps', 'web', 'index.html'), '');
  await symlink('apps/web', join(code, 'linked'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

it('leaves the whole source, or one directory of it', async () => {
  await narrowTo({ root: '', app: 'shop' }, { code, directory });
  expect((await readdir(code)).sort()).toEqual(['apps', 'linked', 'package.json']);
  await narrowTo({ root: 'apps/web', app: 'shop' }, { code, directory });
  expect(await readdir(code)).toEqual(['index.html']);
  expect(await readdir(directory)).toEqual(['code']);
});

it.each(['web', 'apps/web/index.html', 'linked', 'package.json/x'])(
  'refuses what is no directory: %s',
  async (root) => {
    await expect(narrowTo({ root, app: 'shop' }, { code, directory })).rejects.toMatchObject({
      code: 'invalid_config',
    });
    expect(await readdir(directory)).toEqual(['code']);
  },
);
