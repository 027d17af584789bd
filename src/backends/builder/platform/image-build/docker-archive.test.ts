import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { create } from 'tar';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeApart } from './docker-archive.ts';

const NEVER = new AbortController().signal;
const digestOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'tancho-archive-'));
  await mkdir(join(home, 'out'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function apart(
  files: Readonly<Record<string, string | Buffer>>,
  links: Readonly<Record<string, string>> = {},
): Promise<string> {
  const from = join(home, 'from');
  for (const path of [...Object.keys(files), ...Object.keys(links)])
    await mkdir(dirname(join(from, path)), { recursive: true });
  for (const [path, bytes] of Object.entries(files)) await writeFile(join(from, path), bytes);
  for (const [path, to] of Object.entries(links)) await symlink(to, join(from, path));
  const archive = join(home, 'image.tar');
  await create({ file: archive, cwd: from, portable: true }, await readdir(from));
  await takeApart(archive, join(home, 'out'), NEVER);
  return readFile(join(home, 'out', 'manifest.json'), 'utf8');
}

const listOf = (Config: string, Layers: readonly string[]): string =>
  JSON.stringify([{ Config, Layers, RepoTags: [] }]);

describe('an archive of an image', () => {
  it('of an older Docker, whose equal layers are links, becomes a manifest and its blobs', async () => {
    const manifest = JSON.parse(
      await apart(
        {
          'manifest.json': listOf('c.json', ['a/layer.tar', 'b/layer.tar']),
          'c.json': '{"os":"linux"}',
          'a/layer.tar': 'layer one',
          'a/json': '{}',
          repositories: '{}',
        },
        { 'b/layer.tar': '../a/layer.tar' },
      ),
    ) as { config: { digest: string; size: number }; layers: { digest: string; mediaType: string }[] };
    expect(manifest.config).toMatchObject({ digest: `sha256:${digestOf('{"os":"linux"}')}`, size: 14 });
    const layer = {
      digest: `sha256:${digestOf('layer one')}`,
      mediaType: expect.stringMatching(/diff\.tar$/) as string,
    };
    expect(manifest.layers).toMatchObject([layer, layer]);
    expect((await readdir(join(home, 'out'))).sort()).toEqual(
      ['manifest.json', digestOf('{"os":"linux"}'), digestOf('layer one')].sort(),
    );
    expect(await readFile(join(home, 'out', digestOf('layer one')), 'utf8')).toBe('layer one');
  });

  it('of a newer one, or of BuildKit, may have packed layers', async () => {
    const packed = gzipSync('layer');
    const manifest = await apart({
      'manifest.json': listOf('blobs/sha256/c', ['blobs/sha256/l']),
      'index.json': '{}',
      'blobs/sha256/c': '{}',
      'blobs/sha256/l': packed,
    });
    expect(manifest).toContain('diff.tar.gzip');
    expect(manifest).toContain(digestOf(packed));
  });

  it.each([
    ['without a list', { 'c.json': '{}' }],
    ['with a list of nothing', { 'manifest.json': '[]' }],
    ['with a list that is none', { 'manifest.json': 'x' }],
    ['whose layer is not there', { 'manifest.json': listOf('c.json', ['a/layer.tar']), 'c.json': '{}' }],
    ['whose configuration is elsewhere', { 'manifest.json': listOf('../../etc/passwd', []) }],
  ])('%s is none', async (_, files) => {
    await expect(apart(files)).rejects.toMatchObject({ code: 'build_failed' });
  });
});
