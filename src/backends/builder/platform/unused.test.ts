/** What builds bring and keep is taken away when nothing needs it any more. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { link, mkdir, readdir, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type BuilderWorld, builderWorld } from '../../../../test/support/builder-world.ts';
import { FAKE } from '../../../../test/support/fake-language.ts';
import { DiskWriters } from '../../../domain/disk/disk-writers.ts';
import { createHomeSurvey } from '../../disk-survey/home/home-survey.ts';
import { treeOf } from '../../../../test/support/source-trees.ts';

const APP = { 'app.txt': '', 'default.txt': '' };
const KIB_100 = 102_400;
const worlds: BuilderWorld[] = [];

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.dispose();
});

async function world(more = {}): Promise<BuilderWorld> {
  const made = await builderWorld([FAKE], { more });
  worlds.push(made);
  return made;
}

it('tools go when nothing has used them for long, not while a slug needs them', async () => {
  const { build, artifacts, builder, home } = await world();
  const source = treeOf({ ...APP, 'app.json': '{"wants":{"cp":"^97.0.0"}}' });
  const { id } = await build({ source });
  const [yesterday, tomorrow] = [-1, 1].map((days) => new Date(Date.now() + days * 86_400_000)) as [Date, Date];
  expect(await builder.removeUnused({ since: tomorrow, toolBytes: 0 })).toEqual([]);
  await artifacts.remove(id);
  expect(await builder.removeUnused({ since: yesterday, toolBytes: 0 })).toEqual([]);
  expect(await builder.removeUnused({ since: tomorrow, toolBytes: 0 })).toEqual(['cp/97.2.0']);
  expect(await readdir(join(home, 'toolchains/cp'))).toEqual([]);
  await artifacts.remove((await build({ source })).id);
  const ready = join(home, 'toolchains/cp/97.2.0/ready');
  await utimes(ready, yesterday, yesterday);
  await build({ source });
  expect((await stat(ready)).mtimeMs).toBeGreaterThan(yesterday.getTime() + 1_000);
});

it('tools hold no more together than they may, and what builds keep goes when there was none for long', async () => {
  const { build, artifacts, builder, home } = await world();
  const source = (wanted: string) => treeOf({ ...APP, 'app.json': `{"wants":{"cp":"${wanted}"}}` });
  const first = await build({ source: source('97.1') });
  const second = await build({ source: source('97.2') });
  const [yesterday, tomorrow] = [-1, 1].map((days) => new Date(Date.now() + days * 86_400_000)) as [Date, Date];
  await utimes(join(home, 'toolchains/cp/97.1.0/ready'), yesterday, yesterday);
  const bounds = { since: new Date(0), toolBytes: 1 };
  // Both are needed.
  expect(await builder.removeUnused(bounds)).toEqual([]);
  await artifacts.remove(second.id);
  expect(await builder.removeUnused({ ...bounds, toolBytes: 1024 ** 3 })).toEqual([]);
  // For all that is known, a build that still goes on uses it.
  expect(await builder.removeUnused(bounds)).toEqual([]);
  await utimes(join(home, 'toolchains/cp/97.2.0/ready'), yesterday, yesterday);
  expect(await builder.removeUnused(bounds)).toEqual(['cp/97.2.0']);
  await mkdir(join(home, 'cache/shop/downloads'), { recursive: true });
  expect(await builder.removeUnused({ since: yesterday, toolBytes: 0 })).toEqual([]);
  expect(await builder.removeUnused({ since: tomorrow, toolBytes: 0 })).toEqual(['cache of shop']);
  expect(await builder.removeUnused({ since: tomorrow, toolBytes: 0 })).toEqual([]);
  expect(await readdir(join(home, 'cache/shop'))).not.toContain('downloads');
  await artifacts.remove(first.id);
});

function put(path: string, bytes: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, Buffer.alloc(bytes, 'x'));
}

it('a build that takes room that others need can be ended: what was there before is not its own, and it leaves nothing', async () => {
  const writers = new DiskWriters(createHomeSurvey({ home: tmpdir() }));
  const { build, artifacts, home } = await world({ writers });
  const cache = join(home, 'cache/shop');
  for (const path of ['downloads/old', 'containers/old', 'layers/whole/tree/old']) put(join(cache, path), 2 * KIB_100);
  put(join(cache, 'layers/whole/ready'), 0);
  put(join(cache, 'layers/cut-off/tree'), 2 * KIB_100);
  const source = treeOf({ ...APP, 'tancho.yaml': 'hooks: { build: ["sleep 300"] }' });
  const ended = expect(build({ source })).rejects.toMatchObject({ code: 'disk_low', message: 'it takes all' });
  await expect.poll(async () => (await readdir(cache)).some((name) => name.startsWith('build-'))).toBe(true);
  const [code = ''] = (await readdir(join(home, 'slugs/shop'))).map((id) => join(home, 'slugs/shop', id, 'code'));
  const written = async (): Promise<number> =>
    Math.floor(((await writers.list()[0]?.written('bytes', new AbortController().signal)) ?? NaN) / KIB_100);
  // Beside it are a few directories and the source.
  await link(join(cache, 'layers/whole/tree/old'), join(code, 'linked'));
  expect(await written()).toBeLessThan(2);
  for (const path of [join(cache, 'downloads/new'), join(cache, 'layers/partial/tree'), join(code, 'new')])
    put(path, 2 * KIB_100);
  expect(await written()).toBeGreaterThanOrEqual(6);
  writers.list()[0]?.end('it takes all');
  await ended;
  expect([writers.list(), await artifacts.list()]).toEqual([[], []]);
  expect((await readdir(cache)).filter((name) => !['layers', 'measured', 'used'].includes(name))).toEqual([]);
});
