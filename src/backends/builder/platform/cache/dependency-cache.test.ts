import { lstat, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { builderWorld } from '../../../../../test/support/builder-world.ts';
import type { BuilderWorld } from '../../../../../test/support/builder-world.ts';
import { FAKE } from '../../../../../test/support/fake-language.ts';
import { NOT_ROOT, skipFor } from '../../../../../test/support/skips.ts';
import { treeOf } from '../../../../../test/support/source-trees.ts';
import { itLong } from '../../../../../test/support/long-cases.ts';
import { SLOW } from '../../../../../test/support/slow.ts';

const TENANT = 54_321;
const APP = {
  'app.txt': '',
  'default.txt': '',
  'packages.txt': 'a 1.0',
  'vendor/a/index.txt': 'package a',
  'vendor/link': '-> a',
};
const worlds: BuilderWorld[] = [];

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.dispose();
});

async function world(uid?: number): Promise<BuilderWorld> {
  const made = await builderWorld([FAKE], uid === undefined ? {} : { uid });
  worlds.push(made);
  return made;
}

async function layers(home: string, app = 'shop'): Promise<string[]> {
  return readdir(join(home, 'cache', app, 'layers')).catch(() => []);
}

describe('kept packages', () => {
  it('are given back without running a step while nothing that decides them changes', async () => {
    const { build, code, lines, sandbox } = await world();
    await build({ source: treeOf(APP) });
    expect(lines).toContain('install packages');
    const before = sandbox.requests.length;
    const second = await build({
      source: treeOf({ ...APP, 'app.txt': 'changed', 'vendor/a/index.txt': 'not looked at' }),
    });
    expect(lines.join('\n')).toMatch(/packages: unchanged, restored in \d+ ms/);
    expect(sandbox.requests.slice(before).map(({ argv }) => argv.includes('tar'))).toEqual([true]);
    expect(await readFile(code(second, 'packages/a/index.txt'), 'utf8')).toBe('package a');
    expect((await lstat(code(second, 'packages/link'))).isSymbolicLink()).toBe(true);
  });

  it.each([
    ['a file of the key', { 'packages.txt': 'a 2.0' }],
    ['a key of a JSON file', { 'app.json': '{"packages":["b"]}' }],
  ])('are made anew when %s changes', async (_what, change) => {
    const { build, lines } = await world();
    await build({ source: treeOf(APP) });
    await build({ source: treeOf({ ...APP, ...change }) });
    expect(lines).toContain('install packages');
  });

  const decisive = SLOW ? (['PIP_EXTRA_INDEX_URL', 'npm_config_registry', 'CYPRESS_INSTALL_BINARY'] as const) : [];
  it.each([
    ...decisive.map((name) => [name, true] as const),
    ['BUILD_CACHE_VERSION', true] as const,
    ['GREETING', false] as const,
  ])('are made anew when the variable %s of the app changes: %s', async (name, isAnew) => {
    const { build, lines } = await world();
    await build({ source: treeOf(APP), env: { [name]: '1' } });
    await build({ source: treeOf(APP), env: { [name]: '1' } });
    expect(lines).not.toContain('install packages');
    await build({ source: treeOf(APP), env: { [name]: '2' } });
    expect(lines.includes('install packages')).toBe(isAnew);
  });

  it('are not shared between apps', async () => {
    const { build, lines } = await world();
    await build({ source: treeOf(APP) });
    await build({ app: 'other', source: treeOf(APP) });
    expect(lines).toContain('install packages');
  });

  itLong('are not kept when the platform forbids it', async () => {
    const { build, home } = await world();
    await build({ source: treeOf({ ...APP, 'never.txt': '' }) });
    expect(await layers(home)).toEqual([]);
  });

  itLong('are bounded in number', async () => {
    const { build, home } = await world();
    for (let version = 0; version < 5; version += 1)
      await build({ source: treeOf({ ...APP, 'packages.txt': String(version) }) });
    expect(await layers(home)).toHaveLength(3);
  });

  it('are not spoilt by what the app writes', async () => {
    const { build, code } = await world();
    const first = await build({ source: treeOf(APP) });
    await writeFile(code(first, 'packages/a/index.txt'), 'spoilt');
    const second = await build({ source: treeOf(APP) });
    expect(await readFile(code(second, 'packages/a/index.txt'), 'utf8')).toBe('package a');
  });

  itLong('are one archive where the app gets copies, so that a first build makes no file twice', async () => {
    const { build, code, home } = await world();
    const first = await build({ source: treeOf(APP) });
    const [key = ''] = await layers(home);
    expect(await readdir(join(home, 'cache/shop/layers', key, 'tree'))).toEqual(['files.tar']);
    const second = await build({ source: treeOf(APP) });
    for (const artifact of [first, second]) {
      expect(await readFile(code(artifact, 'packages/a/index.txt'), 'utf8')).toBe('package a');
    }
  });

  itLong('that turn out to be a link are not followed', async () => {
    const { build, home } = await world();
    const source = treeOf({ 'app.txt': '', 'default.txt': '', 'packages.txt': '', vendor: '-> /etc' });
    await build({ source });
    expect(await layers(home)).toEqual([]);
  });
});

describe('a layer', () => {
  const LAYERED = { 'app.txt': '', 'default.txt': '', 'layer.txt': 'one' };

  it('stays where it was made, and is named to the units', async () => {
    const { build, manifest, lines } = await world();
    const first = await manifest(await build({ source: treeOf(LAYERED) }));
    const [tree = ''] = first.binds;
    expect(await readFile(join(tree, 'made.txt'), 'utf8')).toBe('one');
    expect(await readdir(tree)).toContain('shared');
    expect(first).toMatchObject({ path: [join(tree, 'bin')], env: { LAYER: tree } });
    expect((await manifest(await build({ source: treeOf(LAYERED) }))).binds).toEqual([tree]);
    expect(lines).toContain('layer: unchanged');
  });

  itLong('lives as long as a slug needs it, also when the cache is removed', async () => {
    const { artifacts, build, manifest, home, builder, sandbox } = await world();
    const kept = await build({ source: treeOf(LAYERED) });
    for (let version = 0; version < 5; version += 1) {
      await artifacts.remove((await build({ source: treeOf({ ...LAYERED, 'layer.txt': String(version) }) })).id);
    }
    const [tree = ''] = (await manifest(kept)).binds;
    expect((await stat(tree)).isDirectory()).toBe(true);
    await builder.removeCache('shop');
    expect((await stat(tree)).isDirectory()).toBe(true);
    expect(sandbox.forgotten).toEqual([]);
    await artifacts.remove(kept.id);
    await builder.removeUnused({ since: new Date(0), toolBytes: 0 });
    expect(await readdir(join(home, 'cache'))).toEqual([]);
    expect(sandbox.forgotten).toEqual(['shop']);
  });

  it('of a failed build is gone', async () => {
    const { build, home } = await world();
    const failing = build({ source: treeOf({ 'app.txt': '', 'default.txt': '', 'layer.txt/x': '' }) });
    await expect(failing).rejects.toMatchObject({ code: 'build_failed' });
    expect(await layers(home)).toEqual([]);
  });
});

describe('with a user per app', skipFor(NOT_ROOT), () => {
  it('files are shared with the cache and belong to the server, directories to the app', async () => {
    const { build, code, home } = await world(TENANT);
    const artifacts = [await build({ source: treeOf(APP) }), await build({ source: treeOf(APP) })];
    const [key = ''] = await layers(home);
    const cached = await stat(join(home, 'cache/shop/layers', key, 'tree/a/index.txt'));
    for (const artifact of artifacts) {
      const file = await stat(code(artifact, 'packages/a/index.txt'));
      expect(file).toMatchObject({ ino: cached.ino, uid: 0 });
      expect(file.mode & 0o022).toBe(0);
      expect((await stat(code(artifact, 'packages/a'))).uid).toBe(TENANT);
    }
  });

  itLong('files are copies when steps of the app follow, for those may rewrite them', async () => {
    const { build, code } = await world(TENANT);
    const source = treeOf({ ...APP, 'tancho.yaml': 'hooks: { build: ["echo more >> packages/a/index.txt"] }' });
    for (let turn = 0; turn < 2; turn += 1) {
      const artifact = await build({ source });
      expect(await readFile(code(artifact, 'packages/a/index.txt'), 'utf8')).toBe('package amore\n');
      expect((await stat(code(artifact, 'packages/a/index.txt'))).uid).toBe(TENANT);
    }
  });

  itLong('a layer lies in one mount with the downloads while it is made, so that files can be linked', async () => {
    const { build, home, sandbox } = await world(TENANT);
    await build({ source: treeOf({ ...APP, 'layer.txt': '' }) });
    const making = sandbox.requests.filter(({ binds }) => binds.some(({ path }) => path === join(home, 'cache/shop')));
    expect(making.length).toBeGreaterThan(0);
    for (const { binds } of making) {
      expect(binds.filter(({ path }) => path.startsWith(join(home, 'cache/shop/')))).toEqual([]);
    }
  });

  it('a layer cannot be written by the app once it is made', async () => {
    const { build } = await world(TENANT);
    const source = treeOf({ ...APP, 'layer.txt': '', 'tancho.yaml': 'hooks: { build: ["touch $LAYER/more"] }' });
    await expect(build({ source })).rejects.toMatchObject({
      code: 'build_failed',
      lines: [expect.stringMatching(/Permission denied/)],
    });
  });

  itLong('a link in the place of a directory above them leads the server nowhere', async () => {
    const { build, code, home } = await world(TENANT);
    const foreign = join(home, 'foreign');
    await mkdir(join(foreign, 'packages'), { recursive: true });
    const file = join(foreign, 'packages/index.txt');
    await writeFile(file, 'of somebody else');
    const nested = (more: string) => ({
      'app.txt': '',
      'default.txt': '',
      'nested.sh': `mkdir -p nested/packages; echo own > nested/packages/own.txt; ${more}`,
    });
    await build({ source: treeOf(nested(`mv nested aside; ln -s ${foreign} nested`)) });
    expect(await stat(join(foreign, 'packages'))).toMatchObject({ uid: 0 });
    expect(await readFile(file, 'utf8')).toBe('of somebody else');
    // Before the steps of this set, those of another one may have run.
    const before = { ...nested('true'), nested: `-> ${foreign}` };
    await build({ source: treeOf(before) }).catch(() => undefined);
    expect(await readFile(file, 'utf8')).toBe('of somebody else');
    // And without any link they are kept as others are.
    for (const more of [{ 'nested/packages/stale.txt': '' }, {}]) {
      const artifact = await build({ source: treeOf({ ...nested('true'), ...more }) });
      expect(await readdir(code(artifact, 'nested/packages'))).toEqual(['own.txt']);
      expect((await stat(code(artifact, 'nested/packages/own.txt'))).uid).toBe(TENANT);
    }
  });

  it("another app's user cannot look into the cache", async () => {
    const { build, home } = await world(TENANT);
    await build({ source: treeOf(APP) });
    const cache = await stat(join(home, 'cache/shop'));
    expect(cache).toMatchObject({ uid: 0, gid: TENANT, mode: 0o40750 });
  });
});
