/** What every ArtifactStore must do. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ArtifactPlace, ArtifactStore } from '../../domain/artifacts/artifact-store.ts';
import type { SlugManifest } from '../../domain/artifacts/slug.ts';

interface ArtifactStoreUnderTest {
  readonly store: ArtifactStore;
  /** The same, as after a restart. */
  reopen(): ArtifactStore;
  dispose(): Promise<void>;
}

const CASES = 9;
const NEVER = new AbortController().signal;
const MANIFEST: SlugManifest = { format: 1, platform: 'nodejs', path: ['/opt/bin'], env: { A: 'b' }, binds: [] };
const IMAGE_DIGEST = `sha256:${'5'.repeat(64)}`;
const IMAGE: SlugManifest = {
  ...MANIFEST,
  image: { digest: IMAGE_DIGEST, directory: '/', home: '/', uid: 5, gid: 5, ports: [], programs: [] },
};

export function artifactStoreConformance(name: string, create: () => Promise<ArtifactStoreUnderTest>): void {
  describe(`artifact store conformance: ${name}`, () => {
    let under: ArtifactStoreUnderTest;
    let counted = 0;
    beforeEach(async () => {
      under = await create();
    });
    afterEach(() => under.dispose());
    afterAll(() => expect(counted, 'cases of the conformance suite').toBe(CASES));
    const check = (title: string, run: () => Promise<void>): void => {
      it(title, async () => {
        counted += 1;
        await run();
      });
    };
    const put = async (app: string, deploy: string, manifest = MANIFEST): Promise<ArtifactPlace> => {
      const place = await under.store.begin(app, deploy);
      await under.store.put(place, manifest);
      return place;
    };
    keeping(check, () => under, put);
    digests(check, () => under, put);
    removal(check, () => under, put);
  });
}

type Check = (title: string, run: () => Promise<void>) => void;
type Put = (app: string, deploy: string, manifest?: SlugManifest) => Promise<ArtifactPlace>;

function keeping(check: Check, under: () => ArtifactStoreUnderTest, put: Put): void {
  check('what was put is opened by its name, with its manifest, also after a restart', async () => {
    const place = await put('shop', 'd1');
    const expected = { id: place.id, code: place.code, manifest: MANIFEST, packed: null };
    expect(await under().store.open(place.id)).toEqual(expected);
    expect(await under().reopen().open(place.id)).toEqual(expected);
  });

  check('what was begun is not kept before it is put', async () => {
    const { id } = await under().store.begin('shop', 'd1');
    expect(await under().store.open(id)).toBeNull();
    expect(await under().store.list()).toEqual([]);
  });

  check('a name is begun anew with nothing of what was there', async () => {
    const { id } = await put('shop', 'd1');
    await under().store.begin('shop', 'd1');
    expect(await under().store.open(id)).toBeNull();
  });

  check('lists those of one app, or all', async () => {
    const [one, two, other] = [await put('shop', 'd1'), await put('shop', 'd2'), await put('blog', 'd3')];
    const ids = async (app?: string): Promise<string[]> =>
      (await under().store.list(app)).map(({ id, app: of }) => `${of} ${id}`).sort();
    expect(await ids('shop')).toEqual([`shop ${one.id}`, `shop ${two.id}`]);
    expect(await ids()).toEqual([`blog ${other.id}`, `shop ${one.id}`, `shop ${two.id}`]);
    expect(await ids('gone')).toEqual([]);
  });

  check('names that lead elsewhere are refused, and never opened', async () => {
    for (const [app, deploy] of [
      ['..', 'd1'],
      ['shop', '..'],
      ['shop', 'a/b'],
      ['', 'd1'],
    ] as const) {
      await expect(Promise.resolve().then(() => under().store.begin(app, deploy))).rejects.toThrow(TypeError);
    }
    for (const id of ['../shop/d1', 'shop/..', '', '/', 'shop/d1/code'])
      expect(await under().store.open(id)).toBeNull();
  });
}

function digests(check: Check, under: () => ArtifactStoreUnderTest, put: Put): void {
  check('a digest stays the same, also after a restart, and another manifest has another', async () => {
    const { id } = await put('shop', 'd1');
    const digest = await under().store.digest(id, NEVER);
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(await under().store.digest(id, NEVER)).toBe(digest);
    expect(await under().reopen().digest(id, NEVER)).toBe(digest);
    await put('shop', 'd1', { ...MANIFEST, env: { A: 'c' } });
    expect(await under().store.digest(id, NEVER)).not.toBe(digest);
  });

  check('the digest of an image is its own; of what is not kept there is none', async () => {
    const { id } = await put('shop', 'd1', IMAGE);
    expect(await under().store.digest(id, NEVER)).toBe(IMAGE_DIGEST);
    await expect(under().store.digest('shop/d2', NEVER)).rejects.toMatchObject({ code: 'internal' });
  });
}

function removal(check: Check, under: () => ArtifactStoreUnderTest, put: Put): void {
  check('removes only the one named, and what is not there without complaint', async () => {
    const [one, two] = [await put('shop', 'd1'), await put('shop', 'd2')];
    for (const id of [one.id, one.id, 'blog/d9', '..', '']) await under().store.remove(id);
    expect(await under().store.open(one.id)).toBeNull();
    expect((await under().store.list()).map(({ id }) => id)).toEqual([two.id]);
  });

  check('what was cut off goes, what was put stays', async () => {
    const kept = await put('shop', 'd1');
    await under().store.begin('shop', 'd2');
    await under().store.begin('blog', 'd3');
    expect(await under().store.removeUnfinished()).toBe(2);
    expect(await under().store.removeUnfinished()).toBe(0);
    expect((await under().store.list()).map(({ id }) => id)).toEqual([kept.id]);
  });
}
