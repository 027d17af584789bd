/** Artifacts on a disk: the conformance suite, and what only files can show. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SlugManifest } from '../../../domain/artifacts/slug.ts';
import { artifactStoreConformance } from '../conformance.ts';
import { LocalArtifacts } from './local-artifacts.ts';

artifactStoreConformance('local', async () => {
  const root = mkdtempSync(join(tmpdir(), 'artifacts-'));
  return {
    store: new LocalArtifacts(root),
    reopen: () => new LocalArtifacts(root),
    dispose: async () => rmSync(root, { recursive: true, force: true }),
  };
});

const NEVER = new AbortController().signal;
const MANIFEST: SlugManifest = { format: 1, platform: 'nodejs', path: [], env: {}, binds: [] };
let root: string;
let store: LocalArtifacts;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'artifacts-'));
  store = new LocalArtifacts(join(root, 'slugs'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function put(fill: (code: string) => void, manifest = MANIFEST): Promise<string> {
  const place = await store.begin('shop', 'd1');
  fill(place.code);
  await store.put(place, manifest);
  return place.id;
}

function files(code: string, texts: Readonly<Record<string, string>>, at = new Date(1_700_000_000_000)): void {
  for (const [name, text] of Object.entries(texts)) {
    mkdirSync(join(code, name, '..'), { recursive: true });
    writeFileSync(join(code, name), text);
    utimesSync(join(code, name), at, at);
  }
}

it('shows nobody else what is being written', async () => {
  const { code, directory } = await store.begin('shop', 'd1');
  expect([directory, code].map((path) => lstatSync(path).mode & 0o777)).toEqual([0o711, 0o700]);
});

describe('the digest of code', () => {
  const digest = async (fill: (code: string) => void, manifest = MANIFEST): Promise<string> =>
    store.digest(await put(fill, manifest), NEVER);

  it('depends on names, contents, modes, times and links, not on the order in which they came', async () => {
    const one = await digest((code) => files(code, { a: '1', 'dir/b': '2' }));
    expect(await digest((code) => files(code, { 'dir/b': '2', a: '1' }))).toBe(one);
    const others = [
      await digest((code) => files(code, { a: '1', 'dir/c': '2' })),
      await digest((code) => files(code, { a: '1', 'dir/b': '3' })),
      await digest((code) => files(code, { a: '1', 'dir/b': '2' }, new Date(0))),
      await digest((code) => {
        files(code, { a: '1', 'dir/b': '2' });
        symlinkSync('a', join(code, 'link'));
      }),
    ];
    expect(new Set([one, ...others]).size).toBe(5);
  });

  it('depends on what the code shares with others', async () => {
    const layer = join(root, 'layer');
    mkdirSync(layer);
    writeFileSync(join(layer, 'library'), 'one');
    const shared = { ...MANIFEST, binds: [layer] };
    const one = await digest((code) => files(code, { a: '1' }), shared);
    writeFileSync(join(layer, 'library'), 'two');
    expect(await digest((code) => files(code, { a: '1' }), shared)).not.toBe(one);
  });

  it('is kept beside the code, which is not read again, and goes with it', async () => {
    const id = await put((code) => files(code, { a: '1' }));
    expect(readdirSync(join(root, 'slugs', id)).sort()).toEqual(['code', 'slug.json']);
    const digest = await store.digest(id, NEVER);
    expect(readdirSync(join(root, 'slugs', id)).sort()).toEqual(['code', 'digest', 'slug.json']);
    rmSync(join(root, 'slugs', id, 'code'), { recursive: true });
    expect(await store.digest(id, NEVER)).toBe(digest);
    await store.remove(id);
    expect(existsSync(join(root, 'slugs', 'shop'))).toBe(false);
  });

  it('is given up when nobody waits for it any more', async () => {
    const id = await put((code) => files(code, { a: '1' }));
    await expect(store.digest(id, AbortSignal.abort(new Error('given up')))).rejects.toThrow('given up');
    expect(await store.digest(id, NEVER)).toMatch(/^sha256:/);
  });
});

it('what an earlier version of the program has left is opened as it is', async () => {
  const directory = join(root, 'slugs/shop/000000000000000000000001');
  mkdirSync(join(directory, 'code'), { recursive: true });
  writeFileSync(join(directory, 'slug.json'), '{"format":1,"platform":"nodejs","path":["/opt"],"env":{},"binds":[]}');
  const id = 'shop/000000000000000000000001';
  expect(await store.open(id)).toEqual({
    id,
    code: join(directory, 'code'),
    manifest: { ...MANIFEST, path: ['/opt'] },
    packed: null,
  });
  expect(await store.list()).toEqual([{ id, app: 'shop' }]);
});
