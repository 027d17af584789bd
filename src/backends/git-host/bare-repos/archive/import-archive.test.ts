import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Header } from 'tar';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isPlatformError } from '../../../../domain/errors.ts';
import { SILENT } from '../../../../lib/logger.ts';
import { type BareRepos, createBareRepos } from '../bare-repos.ts';
import { itLong } from '../../../../../test/support/long-cases.ts';

interface Item {
  readonly path: string;
  readonly type?: 'File' | 'Directory' | 'SymbolicLink' | 'Link' | 'CharacterDevice' | 'FIFO';
  readonly body?: string | Buffer;
  readonly linkpath?: string;
  readonly mode?: number;
}

/** A tar file made by hand, so that it can hold what no program would pack. */
function tar(items: readonly Item[]): Buffer {
  const blocks: Buffer[] = [];
  for (const { path, type = 'File', body = '', linkpath, mode = 0o644 } of items) {
    const data = Buffer.from(body);
    const block = Buffer.alloc(512);
    const size = type === 'File' ? data.length : 0;
    new Header({ path, type, size, mode, mtime: new Date(0), ...(linkpath !== undefined && { linkpath }) }).encode(
      block,
    );
    blocks.push(block, ...(size > 0 ? [data, Buffer.alloc((512 - (size % 512)) % 512)] : []));
  }
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

let root: string;
let host: BareRepos;
const never = new AbortController().signal;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'import-archive-'));
  const limits = { maxTreeEntries: 200, maxTreeBytes: 80 * 1024 * 1024, maxArchiveBytes: 1024 * 1024 };
  host = await createBareRepos({ root: join(root, 'repos'), preReceive: '#!/bin/sh\n', logger: SILENT, ...limits });
  await host.create('shop');
});

afterAll(async () => {
  await host.close();
  await rm(root, { recursive: true, force: true });
});

const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
const git = (...args: string[]): string =>
  execFileSync('git', [`--git-dir=${join(root, 'repos', 'shop.git')}`, ...author, ...args])
    .toString()
    .trim();
const uploads = (): string[] => git('for-each-ref', '--format=%(refname)', 'refs/tancho').split('\n').filter(Boolean);

async function* pieces(bytes: Buffer, size = 1_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const send = (bytes: AsyncIterable<Uint8Array>, signal = never) =>
  host.importArchive('shop', { bytes, signal, by: 'ann@example.com', message: () => 'why "it" is\nso' });

async function laidOut(commit: string): Promise<string> {
  const directory = await mkdtemp(join(root, 'tree-'));
  await host.source('shop', commit).extract(directory, never);
  return directory;
}

async function expectRefused(bytes: Buffer, text: RegExp, code = 'deploy.invalid_source'): Promise<void> {
  const before = uploads();
  const thrown: unknown = await send(pieces(bytes, 60_000)).catch((error: unknown) => error);
  expect(isPlatformError(thrown) ? [thrown.code, thrown.message] : thrown).toEqual([code, expect.stringMatching(text)]);
  expect(uploads()).toEqual(before);
}

it('makes a gzipped or plain tar file a commit with modes, links and names of every kind', async () => {
  const odd = 'odd "name"\\ with\nlines, ü';
  const items: Item[] = [
    { path: './', type: 'Directory' },
    { path: './bin/', type: 'Directory' },
    { path: './bin/run', body: '#!/bin/sh\n', mode: 0o755 },
    { path: 'Procfile', body: 'web: ./bin/run\n' },
    { path: 'empty', body: '' },
    { path: odd, body: Buffer.alloc(100_000, 'x') },
    { path: 'link', type: 'SymbolicLink', linkpath: 'bin/run' },
    { path: 'same', type: 'Link', linkpath: './bin/run' },
    { path: '.git/config', body: 'never' },
    { path: 'Procfile', body: 'web: ./bin/run twice\n' },
  ];
  for (const bytes of [gzipSync(tar(items)), tar(items)]) {
    const imported = await send(pieces(bytes));
    expect(imported).toMatchObject({ files: 7, notes: [expect.stringContaining('.git')] });
    const tree = await laidOut(imported.commit);
    expect((await readdir(tree)).sort()).toEqual(['Procfile', 'bin', 'empty', 'link', odd, 'same']);
    expect(await readFile(join(tree, 'Procfile'), 'utf8')).toBe('web: ./bin/run twice\n');
    expect(await readFile(join(tree, 'same'), 'utf8')).toBe('#!/bin/sh\n');
    expect(await readlink(join(tree, 'link'))).toBe('bin/run');
    expect((await stat(join(tree, odd))).size).toBe(100_000);
    expect((await stat(join(tree, 'bin', 'run'))).mode & 0o111).not.toBe(0);
    expect(git('log', '-1', '--format=%an <%ae>|%B', imported.commit)).toContain(
      'ann@example.com <ann@example.com>|why "it" is\nso',
    );
  }
});

it('reports the difference of two uploads, and shows neither to those who clone', async () => {
  const one = await send(pieces(gzipSync(tar([{ path: 'a', body: 'old\n' }]))));
  const two = await send(pieces(gzipSync(tar([{ path: 'a', body: 'new\n' }]))));
  expect(await host.diff('shop', one.commit, two.commit)).toContain('-old\n+new\n');
  const served = await host.serve('shop', { service: 'git-upload-pack', mode: 'advertise', protocol: '', by: 'ann' });
  let text = '';
  for await (const chunk of served.output) text += String(chunk);
  expect(text).not.toContain('tancho');
});

it('refuses what leads out of the archive or is no file', async () => {
  await expectRefused(gzipSync(tar([{ path: '/etc/passwd', body: 'x' }])), /absolute/);
  await expectRefused(gzipSync(tar([{ path: 'a/../../b', body: 'x' }])), /leaves/);
  await expectRefused(gzipSync(tar([{ path: 'a', type: 'CharacterDevice' }])), /neither/);
  await expectRefused(gzipSync(tar([{ path: 'a', type: 'FIFO' }])), /neither/);
  await expectRefused(gzipSync(tar([{ path: 'a', type: 'Link', linkpath: '/etc/passwd' }])), /absolute/);
  await expectRefused(gzipSync(tar([{ path: 'a', type: 'Link', linkpath: 'b' }])), /not in the archive/);
  await expectRefused(gzipSync(tar([{ path: 'a', type: 'SymbolicLink', linkpath: '' }])), /damaged|nowhere/);
});

it('leaves links out that lead out of the tree, and writes no file through one', async () => {
  const { commit } = await send(
    pieces(
      gzipSync(
        tar([
          { path: 'out', type: 'SymbolicLink', linkpath: '/tmp' },
          { path: 'a', body: 'x' },
        ]),
      ),
    ),
  );
  expect(await readdir(await laidOut(commit))).toEqual(['a']);
  const through = await send(
    pieces(
      gzipSync(
        tar([
          { path: 'd', type: 'SymbolicLink', linkpath: root },
          { path: 'd/escaped', body: 'x' },
        ]),
      ),
    ),
  );
  const tree = await laidOut(through.commit).catch(() => null);
  expect(await readdir(root)).not.toContain('escaped');
  if (tree !== null) expect((await stat(join(tree, 'd'))).isDirectory()).toBe(true);
});

const many = (count: number): Item[] => Array.from({ length: count }, (_, n) => ({ path: `f${n}`, body: 'x' }));

it('refuses what is damaged, empty or too much', async () => {
  const good = gzipSync(tar(many(50)));
  await expectRefused(Buffer.alloc(0), /empty/);
  await expectRefused(Buffer.from('this is not an archive'), /damaged/);
  await expectRefused(good.subarray(0, good.length / 2), /damaged/);
  await expectRefused(tar(many(3)).subarray(0, 700), /damaged/);
  await expectRefused(gzipSync(good), /more than once/);
  await expectRefused(gzipSync(Buffer.alloc(10_240)), /no file/);
  await expectRefused(gzipSync(tar([{ path: 'd', type: 'Directory' }])), /no file/);
  await expectRefused(gzipSync(tar(many(201))), /more than 200/);
  const noise = { path: 'noise', body: randomBytes(1024 * 1024) };
  await expectRefused(gzipSync(tar([noise])), /larger than 1 MiB/, 'input.too_large');
  expect((await send(pieces(good))).files).toBe(50);
});

itLong('refuses what unfolds without end', async () => {
  await expectRefused(gzipSync(tar([{ path: 'zeros', body: Buffer.alloc(70 * 1024 * 1024) }])), /unfolds/);
});

it('gives up when the signal says so or the bytes end in an error, and nothing refers to what came', async () => {
  const before = uploads();
  const stop = new AbortController();
  async function* stalled(): AsyncGenerator<Uint8Array> {
    yield gzipSync(tar(many(10))).subarray(0, 100);
    stop.abort(new Error('enough'));
    await new Promise(() => {});
  }
  await expect(send(stalled(), stop.signal)).rejects.toThrow('enough');
  async function* cut(): AsyncGenerator<Uint8Array> {
    yield tar(many(10)).subarray(0, 1_500);
    throw new Error('the line was cut');
  }
  await expect(send(cut())).rejects.toThrow('the line was cut');
  expect(uploads()).toEqual(before);
});

itLong('keeps the newest uploads only', async () => {
  for (const name of uploads()) git('update-ref', '-d', name);
  const commit = git('commit-tree', '-m', 'x', git('mktree', '--missing'));
  for (let n = 0; n < 60; n++) git('update-ref', `refs/tancho/uploads/${String(n).padStart(24, '0')}`, commit);
  await send(pieces(gzipSync(tar(many(1)))));
  expect(uploads()).toHaveLength(50);
  expect(uploads()[0]).toBe(`refs/tancho/uploads/${'11'.padStart(24, '0')}`);
});
