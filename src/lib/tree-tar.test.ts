import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadEntry } from 'tar';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readTar } from './tar-entries.ts';
import { type TarTree, treeTar } from './tree-tar.ts';

const NEVER = new AbortController().signal;
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tree-tar-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function bytesOf(...trees: TarTree[]): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of treeTar(trees, NEVER)) parts.push(part);
  return Buffer.concat(parts);
}

async function entriesOf(...trees: TarTree[]): Promise<Map<string, ReadEntry & { text: string }>> {
  const found = new Map<string, ReadEntry & { text: string }>();
  const bytes = await bytesOf(...trees);
  async function* once(): AsyncGenerator<Buffer> {
    yield bytes;
  }
  const take = async (entry: ReadEntry): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of entry as AsyncIterable<Buffer>) parts.push(part);
    found.set(entry.path, Object.assign(entry, { text: Buffer.concat(parts).toString('utf8') }));
  };
  await readTar(once(), take, NEVER);
  return found;
}

it('has every file, link and directory at its place, with owner, mode and whole seconds', async () => {
  const long = `${'deep/'.repeat(60)}ümläut`;
  mkdirSync(join(root, long, '..'), { recursive: true });
  writeFileSync(join(root, long), 'far down');
  writeFileSync(join(root, 'run'), 'x'.repeat(700_001));
  chmodSync(join(root, 'run'), 0o4750);
  utimesSync(join(root, 'run'), 1_700_000_000.7, 1_700_000_000.7);
  symlinkSync('/nowhere/at/all', join(root, 'link'));
  linkSync(join(root, 'run'), join(root, 'same'));
  writeFileSync(join(root, 'empty'), '');
  const found = await entriesOf({ directory: root, at: '/tmp/of/app', uid: 1000, gid: 1001 });
  const paths = [...found.keys()];
  expect(paths.slice(0, 4)).toEqual(['tmp/', 'tmp/of/', 'tmp/of/app/', 'tmp/of/app/deep/']);
  expect(found.get('tmp/')).toMatchObject({ mode: 0o1777, uid: 0 });
  expect(found.get('tmp/of/app/')).toMatchObject({ mode: 0o755, uid: 1000, type: 'Directory' });
  expect(found.get(`tmp/of/app/${long}`)).toMatchObject({ text: 'far down', type: 'File' });
  const run = found.get('tmp/of/app/run');
  expect(run).toMatchObject({ mode: 0o750, uid: 1000, gid: 1001, mtime: new Date(1_700_000_000_000), size: 700_001 });
  expect(run?.text.length).toBe(700_001);
  expect(found.get('tmp/of/app/same')).toMatchObject({ type: 'File', size: 700_001 });
  expect(found.get('tmp/of/app/link')).toMatchObject({ type: 'SymbolicLink', linkpath: '/nowhere/at/all' });
  expect(found.get('tmp/of/app/empty')).toMatchObject({ size: 0, text: '' });
});

it('is the same byte for byte, whoever has read it and in whatever order it was written', async () => {
  const tree = { directory: root, at: '/app', uid: 1000, gid: 1000 };
  for (const name of ['b', 'a', 'c']) writeFileSync(join(root, name), name);
  for (const name of ['a', 'b', 'c']) utimesSync(join(root, name), 1, 1);
  const first = await bytesOf(tree);
  readFileSync(join(root, 'a'));
  const before = statSync(root).mtimeMs;
  rmSync(join(root, 'a'));
  writeFileSync(join(root, 'a'), 'a');
  utimesSync(join(root, 'a'), 1, 1);
  utimesSync(root, 5, before / 1000 + 100);
  expect((await bytesOf(tree)).equals(first)).toBe(true);
});

it('what is public everybody may read, and nobody more write', async () => {
  mkdirSync(join(root, 'bin'), { mode: 0o700 });
  writeFileSync(join(root, 'bin/tool'), '', { mode: 0o700 });
  writeFileSync(join(root, 'data'), '', { mode: 0o640 });
  const found = await entriesOf({ directory: root, at: '/opt/tool', uid: 0, gid: 0, isPublic: true });
  expect(found.get('opt/tool/bin/')?.mode).toBe(0o755);
  expect(found.get('opt/tool/bin/tool')?.mode).toBe(0o755);
  expect(found.get('opt/tool/data')?.mode).toBe(0o644);
});
