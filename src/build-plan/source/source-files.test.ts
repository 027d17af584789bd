import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryReader, sourceOf } from '../../../test/support/memory-source.ts';
import { treeOf } from '../../../test/support/source-trees.ts';
import { directoryReader } from './directory.ts';
import { SourceFiles } from './source-files.ts';
import type { SourceReader } from './source-reader.ts';

let root: string;
let files: SourceFiles;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'source-'));
  await writeFile(join(root, 'outside.txt'), 'secret');
  const tree = treeOf({
    'code/package.json': '\uFEFF{"scripts":{"build":"x"},"list":[]}',
    'code/broken.json': '{',
    'code/cmd/web/main.go': '',
    'code/cmd/job/main.go': '',
    'code/a+b.txt': 'plus',
    'code/leak': '-> ../outside.txt',
    'code/up': '-> ..',
    'code/loop': '-> loop',
    'code/inner': '-> cmd/web',
  });
  await tree.extract(root, new AbortController().signal);
  files = new SourceFiles(directoryReader(join(root, 'code')));
});
afterAll(() => rm(root, { recursive: true }));

describe('SourceFiles', () => {
  it('finds by pattern, in name order', async () => {
    expect(await files.findAll('cmd/*/main.go')).toEqual(['cmd/job/main.go', 'cmd/web/main.go']);
    expect(await files.find('*.go')).toBeNull();
    expect(await files.find('a+*.txt')).toBe('a+b.txt');
    expect(await files.exists('inner/main.go')).toBe(true);
  });

  it.each([
    ['/*a', { a: 1 }],
    ['"\\"', null],
    ['\n//', null],
  ])('reads JSON of other programs in one pass, also where nothing is closed: %j', async (text, expected) => {
    const long = sourceOf({ 'x.json': `{"a": 1} ${text.repeat(80_000)}` });
    expect(await long.foreignJson('x.json')).toEqual(expected);
    const short = sourceOf({ 'x.json': `{"a": "//b", /* c */ "d": 1, // e\n}` });
    expect(await short.foreignJson('x.json')).toEqual({ a: '//b', d: 1 });
  });

  it('reads values of JSON files', async () => {
    expect(await files.jsonValue('package.json', 'scripts.build')).toBe('x');
    expect(await files.jsonValue('package.json', 'scripts.constructor')).toBeUndefined();
    expect(await files.jsonValue('nothing.json', 'a')).toBeUndefined();
    await expect(files.json('broken.json')).rejects.toThrow(/broken.json is not valid JSON/);
  });

  it.each(['leak', 'up/outside.txt', '../outside.txt', 'loop', 'x'.repeat(300)])(
    'does not see %s outside the tree',
    async (path) => {
      expect(await files.exists(path)).toBe(false);
      expect(await files.text(path)).toBeNull();
    },
  );

  it('reads lock files of several MiB, and refuses what is larger than any', async () => {
    const many = sourceOf({ 'package-lock.json': ' '.repeat(6 * 1024 * 1024), huge: ' '.repeat(17 * 1024 * 1024) });
    expect(await many.text('package-lock.json')).toHaveLength(6 * 1024 * 1024);
    await expect(many.text('huge')).rejects.toMatchObject({
      code: 'invalid_config',
      message: 'huge is larger than 16 MiB.',
    });
    expect(await many.beginning('huge')).toHaveLength(256 * 1024);
  });

  it('refuses settings in TOML that are larger than any', async () => {
    const many = sourceOf({ 'a.toml': '# a\n'.repeat(60_000), 'b.toml': '# b\n'.repeat(70_000) });
    expect(await many.toml('a.toml')).toEqual({});
    await expect(many.toml('b.toml')).rejects.toMatchObject({
      code: 'invalid_config',
      message: 'b.toml is larger than 256 KiB.',
    });
  });

  it('keeps only so much of what it has read, in all parts together', async () => {
    const large = ' '.repeat(15 * 1024 * 1024);
    const many = sourceOf(Object.fromEntries([1, 2, 3, 4, 5].map((at) => [`a${at}/package.json`, large])));
    for (const at of [1, 2, 3, 4, 1]) await many.below(`a${at}`).text('package.json');
    await expect(many.below('a5').text('package.json')).rejects.toMatchObject({
      code: 'invalid_config',
      message: 'The files by which the app is built, package.json among them, hold more than 64 MiB together.',
    });
    const tomls = sourceOf(
      Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`a${at}`, '#'.repeat(256 * 1024)])),
    );
    for (let at = 0; at < 16; at += 1) expect(await tomls.toml(`a${at}`)).toEqual({});
    await expect(tomls.toml('a16')).rejects.toMatchObject({ code: 'invalid_config' });
  });

  it('reads beginnings anew rather than keep more than so many', async () => {
    const files = Object.fromEntries(Array.from({ length: 130 }, (_, at) => [`a${at}`, 'x'.repeat(256 * 1024)]));
    const { reader, asked } = counted(files);
    const source = new SourceFiles(reader);
    for (const name of [...Object.keys(files), 'a0', 'a129']) expect((await source.beginning(name))?.at(0)).toBe('x');
    expect(asked.slice(130)).toEqual(['read a129']);
  });

  it('lists a directory once, and looks for nothing below files', async () => {
    const { reader, asked } = counted({ 'a.py': '', 'b/main.py': '', 'c/main.py/x': '' });
    const source = new SourceFiles(reader);
    for (const name of ['main.py', 'app.py', 'wsgi.py']) await source.findAll(`*/${name}`);
    expect(await source.findAll('*/*')).toEqual(['b/main.py', 'c/main.py']);
    expect(asked).toEqual(['list ', 'list b', 'list c']);
  });

  it('answers no question once its signal is aborted', async () => {
    const ending = new AbortController();
    const source = new SourceFiles(counted({ 'a/b': 'c' }).reader, ending.signal);
    expect(await source.below('a').text('b')).toBe('c');
    ending.abort(new Error('ended'));
    const below = source.below('a');
    for (const question of [source.findAll('*/b'), source.exists('a'), source.text('a/b'), below.text('x')])
      await expect(question).rejects.toThrow('ended');
    for (const question of [source.beginning('a/b'), source.isUtf16('a/b'), below.isUtf16('b')])
      await expect(question).rejects.toThrow('ended');
  });
});

function counted(files: Readonly<Record<string, string>>): { reader: SourceReader; asked: string[] } {
  const asked: string[] = [];
  const reader = memoryReader(files);
  return {
    asked,
    reader: {
      kind: (path) => (asked.push(`kind ${path}`), reader.kind(path)),
      list: (path) => (asked.push(`list ${path}`), reader.list(path)),
      read: (path, most) => (asked.push(`read ${path}`), reader.read(path, most)),
    },
  };
}
