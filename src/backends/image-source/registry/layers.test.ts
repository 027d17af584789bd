/** Layers by strangers, laid over each other below a directory with a neighbour that they must not reach. */
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TarEntry, tarOf } from '../../../../test/support/tar-writer.ts';
import { Failure } from '../../../domain/failure.ts';
import { ImageLayers } from './layers.ts';
import { IMAGE_LIMITS, type ImageLimits } from './limits.ts';
import { RootTree } from './root-tree.ts';

const NEVER = new AbortController().signal;

let top: string;
let root: string;
let outside: string;

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'layers-'));
  root = join(top, 'root');
  outside = join(top, 'outside');
  for (const directory of [root, outside]) mkdirSync(directory);
  writeFileSync(join(outside, 'secret'), 'untouched');
});

afterEach(() => {
  // Nothing but the root was written to, whatever the layers held.
  expect(readdirSync(top).sort()).toEqual(expect.arrayContaining(['outside', 'root']));
  expect(readdirSync(outside)).toEqual(['secret']);
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('untouched');
  rmSync(top, { recursive: true, force: true });
});

async function lay(layers: readonly (readonly TarEntry[] | Buffer)[], limits: Partial<ImageLimits> = {}) {
  const all = new ImageLayers(new RootTree(root), { ...IMAGE_LIMITS, timeoutMs: 60_000, ...limits });
  for (const [index, layer] of layers.entries()) {
    const file = join(top, `layer-${index}`);
    writeFileSync(file, Buffer.isBuffer(layer) ? layer : tarOf(layer as readonly TarEntry[]));
    await all.add(file, NEVER);
  }
  return all;
}

async function refusal(layers: Parameters<typeof lay>[0], limits: Partial<ImageLimits> = {}): Promise<string> {
  const error = await lay(layers, limits).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Failure);
  expect((error as Failure).code).toBe('invalid_source');
  return (error as Failure).message;
}

const text = (path: string): string => readFileSync(join(root, path), 'utf8');
const names = (path = '.'): string[] => readdirSync(join(root, path)).sort();

describe('layers', () => {
  it('become files, directories and links, with their modes and times, packed or not', async () => {
    const entries: TarEntry[] = [
      { path: './', type: 'directory' },
      { path: './bin/', type: 'directory', mode: 0o755 },
      { path: './bin/app', data: 'program', mode: 0o755 },
      { path: 'bin/again', type: 'hardlink', target: 'bin/app' },
      { path: 'bin/link', type: 'symlink', target: '/bin/app' },
      { path: '/etc/absolute', data: 'within the root' },
      { path: `${'long/'.repeat(30)}name`, data: 'deep' },
    ];
    const all = await lay([gzipSync(tarOf(entries)), [{ path: 'empty' }], gzipSync(tarOf([]))]);
    expect(all.entries).toBe(8);
    expect([text('bin/app'), text('bin/again'), text('etc/absolute')]).toEqual([
      'program',
      'program',
      'within the root',
    ]);
    expect(statSync(join(root, 'bin/app')).mode & 0o7777).toBe(0o755);
    expect(statSync(join(root, 'bin/app')).mtimeMs).toBe(1_700_000_000_000);
    expect(statSync(join(root, 'bin/again')).ino).toBe(statSync(join(root, 'bin/app')).ino);
    expect(lstatSync(join(root, 'bin/link')).isSymbolicLink()).toBe(true);
    expect(text(`${'long/'.repeat(30)}name`)).toBe('deep');
  });

  it('lose what would give rights, and devices', async () => {
    await lay([
      [
        { path: 'su', data: 'x', mode: 0o6755 },
        { path: 'dir/', type: 'directory', mode: 0o3777 },
        { path: 'closed', data: 'x', mode: 0 },
        { path: 'dev/sda', type: 'block' },
        { path: 'dev/null', type: 'character' },
        { path: 'pipe', type: 'fifo' },
      ],
    ]);
    expect(names()).toEqual(['closed', 'dir', 'su']);
    const modes = names().map((name) => statSync(join(root, name)).mode & 0o7777);
    expect(modes).toEqual([0o600, 0o777, 0o755]);
  });

  it('replace what earlier ones put there: file by directory, directory by file, link by file', async () => {
    await lay([
      [
        { path: 'a', data: 'file' },
        { path: 'b/c', data: 'inner' },
        { path: 'l', type: 'symlink', target: '../outside/secret' },
        { path: 'b2', type: 'symlink', target: 'b' },
      ],
      [
        { path: 'a/x', data: 'now a directory' },
        { path: 'b', data: 'now a file' },
        { path: 'l', data: 'now a file' },
      ],
    ]);
    expect([text('a/x'), text('b'), text('l')]).toEqual(['now a directory', 'now a file', 'now a file']);
  });

  it('take away by name and by directory, but never what the same layer brings', async () => {
    await lay([
      [
        { path: 'a', data: '1' },
        { path: 'd/old', data: '1' },
        { path: 'd/deep/old', data: '1' },
        { path: 'd/deep/kept', data: '1' },
        { path: 'e/old', data: '1' },
        { path: 'f/x', data: '1' },
      ],
      [
        { path: '.wh.a' },
        { path: 'd/deep/kept', data: '2' },
        { path: 'd/new', data: '2' },
        { path: 'd/.wh..wh..opq' },
        { path: 'e/.wh..wh..opq' },
        { path: 'e/new', data: '2' },
        { path: '.wh.f' },
        { path: 'f/y', data: '2' },
        { path: '.wh.f' },
        { path: '.wh..wh.plnk' },
        { path: '.wh.missing' },
        { path: 'no/where/.wh.x' },
      ],
    ]);
    expect(names()).toEqual(['d', 'e', 'f']);
    expect([names('d'), names('d/deep'), names('e'), names('f')]).toEqual([['deep', 'new'], ['kept'], ['new'], ['y']]);
  });

  it('follow links within the root only', async () => {
    await lay([
      [
        { path: 'usr/lib/', type: 'directory' },
        { path: 'lib', type: 'symlink', target: 'usr/lib' },
        { path: 'abs', type: 'symlink', target: '/usr/lib' },
        { path: 'up', type: 'symlink', target: '../../../../../usr/lib' },
        { path: 'out', type: 'symlink', target: '../outside' },
        { path: 'hole', type: 'symlink', target: join(outside) },
      ],
      [
        { path: 'lib/one', data: '1' },
        { path: 'abs/two', data: '2' },
        { path: 'up/three', data: '3' },
        { path: 'out/secret', data: 'within' },
        { path: 'hole/secret', data: 'within' },
      ],
    ]);
    expect(names('usr/lib')).toEqual(['one', 'three', 'two']);
    expect(text('outside/secret')).toBe('within');
  });
});

describe('whatever layers hold', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'up', '.wh.a', '.wh.up', '.wh..wh..opq', '.wh...', '..', '.', '');
  const names = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
  const target = fc.constantFrom('a', 'b/c', '..', '../..', '../outside', '../outside/secret', '/', '/a', '/up/secret');
  const entry: fc.Arbitrary<TarEntry> = fc.oneof(
    fc.record({ path: names, data: fc.constantFrom('', 'x', 'y'), mode: fc.constantFrom(0o777, 0o4755) }),
    fc.record({ path: names, type: fc.constant('directory' as const), mode: fc.constantFrom(0o777, 0) }),
    fc.record({ path: names, type: fc.constantFrom('symlink' as const, 'hardlink' as const), target }),
  );

  it('they never reach out of their root', async () => {
    const before = statSync(join(outside, 'secret'));
    let laid = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(entry, { maxLength: 8 }), { maxLength: 3 }), async (layers) => {
        rmSync(root, { recursive: true, force: true });
        mkdirSync(root);
        // Absolute links are meant within the root, wherever this machine has such a directory.
        const real = layers.map((layer) => [{ path: 'c/up', type: 'symlink' as const, target: outside }, ...layer]);
        await lay(real).then(
          () => (laid += 1),
          (error: unknown) => expect(error).toBeInstanceOf(Failure),
        );
        const now = statSync(join(outside, 'secret'));
        expect([now.nlink, now.mode, now.mtimeMs, now.size]).toEqual([
          before.nlink,
          before.mode,
          before.mtimeMs,
          before.size,
        ]);
        expect(readdirSync(outside)).toEqual(['secret']);
      }),
      { numRuns: 150 },
    );
    expect(laid).toBeGreaterThan(10);
  });
});

describe('a hostile layer', () => {
  const up = { path: 'up', type: 'symlink', target: '../outside' } as const;
  it.each<[string, readonly (readonly TarEntry[])[]]>([
    ['a path with ..', [[{ path: '../outside/secret', data: 'x' }]]],
    ['a path with .. further on', [[{ path: 'a/../../outside/secret', data: 'x' }]]],
    ['a hard link with ..', [[{ path: 'a', type: 'hardlink', target: '../outside/secret' }]]],
    ['a hard link to nothing', [[{ path: 'a', type: 'hardlink', target: 'nothing' }]]],
    ['a hard link through a link', [[up], [{ path: 'a', type: 'hardlink', target: 'up/secret' }]]],
    [
      'a hard link to a directory',
      [
        [
          { path: 'd/', type: 'directory' },
          { path: 'a', type: 'hardlink', target: 'd' },
        ],
      ],
    ],
    [
      'a hard link in the place of its own directory',
      [
        [
          { path: 'd/f', data: 'x' },
          { path: 'd', type: 'hardlink', target: 'd/f' },
        ],
      ],
    ],
    [
      'a hard link in a directory in the place of its own file',
      [
        [
          { path: 'a', data: 'x' },
          { path: 'a/b', type: 'hardlink', target: 'a' },
        ],
      ],
    ],
    ['the removal of the directory above', [[{ path: 'a/', type: 'directory' }, { path: 'a/.wh...' }]]],
    ['the removal of the directory itself', [[{ path: 'a/', type: 'directory' }, { path: 'a/.wh..' }]]],
    ['a removal without a name', [[{ path: 'a/.wh.' }]]],
    [
      'a ring of links',
      [
        [
          { path: 'a', type: 'symlink', target: 'b' },
          { path: 'b', type: 'symlink', target: 'a' },
          { path: 'a/x', data: 'x' },
        ],
      ],
    ],
    ['a file in the place of the root', [[{ path: './', data: 'x' }]]],
    ['a link in the place of the root', [[{ path: '/', type: 'symlink', target: '../outside' }]]],
    ['a name that is too long', [[{ path: 'n'.repeat(256), data: 'x' }]]],
    ['a path that is too deep', [[{ path: 'd/'.repeat(201), type: 'directory' }]]],
  ])('with %s is refused', async (_, layers) => {
    await refusal(layers);
  });

  it('takes nothing away through a link', async () => {
    await lay([
      [up, { path: 'kept', data: 'x' }],
      [{ path: 'up/.wh.secret' }, { path: 'up/.wh..wh..opq' }],
    ]);
    expect(names()).toEqual(['kept', 'up']);
  });

  it('does not change the mode of what a link leads to', async () => {
    const before = statSync(outside).mode;
    await lay([[up, { path: 'up/', type: 'directory', mode: 0o777 }]]);
    expect(statSync(outside).mode).toBe(before);
  });

  it('is refused where it is too much', async () => {
    const many = Array.from({ length: 30 }, (_, index): TarEntry => ({ path: `f${index}`, data: 'x' }));
    expect(await refusal([many], { entries: 20 })).toContain('more than 20 files');
    const big = Buffer.alloc(1024 * 1024);
    expect(await refusal([[{ path: 'big', data: big }]], { unpackedBytes: 512 * 1024 })).toContain('0.5 MiB');
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    await refusal([bomb], { unpackedBytes: 1024 * 1024, entries: 10 });
  });

  it('is refused where it is damaged or packed in a way that is not known', async () => {
    const whole = tarOf([{ path: 'a', data: 'x'.repeat(2_000) }]);
    await refusal([whole.subarray(0, 1_500)]);
    await refusal([gzipSync(whole).subarray(0, 60)]);
    await refusal([gzipSync(gzipSync(whole))]);
    await refusal([brotliCompressSync(whole)]);
    await refusal([Buffer.from('this is no tar file at all'.repeat(50))]);
    await refusal([Buffer.from('28b52ffd00000000', 'hex')]);
    await refusal([zstdCompressSync(whole).subarray(0, 40)]);
    await refusal([zstdCompressSync(Buffer.alloc(64 * 1024 * 1024))], { unpackedBytes: 1024 * 1024, entries: 10 });
  });
});
