import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keepProgram, readProgram } from './program-files.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'program-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function write(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
}

const FILES = {
  'edge/main.js': `import { a } from './a.js';\nimport fs from 'node:fs';\nconst late = await import('../lib/late.js');\na(late);\n`,
  'edge/a.js': `import {\n  b,\n} from '../lib/b.js';\nexport const a = () => b;\n`,
  'lib/b.js': `export { c as b } from './c.js';\nimport './effect.js';\n`,
  'lib/c.js': `import { a } from '../edge/a.js';\nexport const c = [typeof a];\n`,
  'lib/effect.js': '',
  'lib/late.js': 'export {};\n',
  'lib/unused.js': 'export {};\n',
};
const program = () => readProgram(root, [join(root, 'edge/main.js')]);

it('is the entry and all it imports, wherever that lies', async () => {
  await write(FILES);
  const { files } = await program();
  expect([...files.keys()].sort()).toEqual(
    Object.keys(FILES)
      .filter((name) => name !== 'lib/unused.js')
      .sort(),
  );
});

it('is another one when any of these changes, and the same when others do', async () => {
  await write(FILES);
  const { hash } = await program();
  await write({ 'lib/unused.js': 'changed' });
  expect((await program()).hash).toBe(hash);
  for (const name of ['edge/main.js', 'edge/a.js', 'lib/c.js', 'lib/effect.js', 'lib/late.js'] as const) {
    await write({ [name]: `${FILES[name]}\n// changed` });
    expect((await program()).hash, name).not.toBe(hash);
    await write({ [name]: FILES[name] });
  }
  expect((await program()).hash).toBe(hash);
});

it('is kept as it was when it is built anew, and half a copy is never left', async () => {
  await write(FILES);
  const before = await program();
  const kept = join(root, 'kept');
  const [copy, same] = await Promise.all([keepProgram(before, kept), keepProgram(before, kept)]);
  expect(same).toBe(copy);
  await write({ 'lib/c.js': 'changed' });
  expect(await readFile(join(copy, 'lib/c.js'), 'utf8')).toBe(FILES['lib/c.js']);
  expect(await readdir(kept)).toEqual([before.hash]);
  expect(await keepProgram(await program(), kept)).not.toBe(copy);
});

it('says which file is missing', async () => {
  await write({ 'edge/main.js': `import './gone.js';\n` });
  await expect(program()).rejects.toThrow(/gone\.js/);
});
