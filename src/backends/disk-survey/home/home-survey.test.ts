import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { UnitSize } from '../../../domain/disk/disk-survey.ts';
import { createHomeSurvey } from './home-survey.ts';

const KIB_100 = 100 * 1024;

let home: string;
beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'tancho-home-'))));
afterEach(() => rmSync(home, { recursive: true, force: true }));

function put(path: string, bytes: number): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), Buffer.alloc(bytes, 'x'));
}

it('says what each app, toolchain and unit holds, and what is the platform’s own', async () => {
  put('slugs/shop/d1/code/index.js', KIB_100);
  put('slugs/shop/d2/code/index.js', KIB_100);
  put('slugs/blog/d1/code/index.js', 10);
  put('repos/shop.git/objects/pack', KIB_100);
  put('units/f00/output', KIB_100);
  put('toolchains/node/24/tree/node', KIB_100);
  put('tancho.db', KIB_100);
  put('images/aa', KIB_100);
  put('backups/one/tancho.db', KIB_100);
  put('logs.db-wal', KIB_100);
  put('mail/letter', 10);
  const found = await createHomeSurvey({ home }).holdings();
  const of = (kind: string, name: string): number =>
    found.find((one) => one.kind === kind && one.name === name)?.bytes ?? 0;
  expect(of('code', 'shop')).toBeGreaterThanOrEqual(2 * KIB_100);
  expect(of('code', 'shop')).toBeGreaterThan(of('code', 'blog'));
  for (const [kind, name] of [
    ['repository', 'shop'],
    ['unit', 'f00'],
    ['toolchain', 'node'],
    ['database', 'tancho.db'],
    ['image cache', 'images'],
    ['backup', 'backups'],
    ['log', 'logs.db-wal'],
  ] as const)
    expect(of(kind, name), kind).toBeGreaterThanOrEqual(KIB_100);
  expect(of('other', 'mail')).toBeGreaterThan(0);
  expect(found).toHaveLength(10);
});

it('is nothing where there is nothing', async () => {
  expect(await createHomeSurvey({ home }).holdings()).toEqual([]);
});

async function all(sizes: AsyncIterable<UnitSize>): Promise<UnitSize[]> {
  const found: UnitSize[] = [];
  for await (const size of sizes) found.push(size);
  return found;
}

it('says what each unit holds, in bytes and in files, in the order that is asked for', async () => {
  put('units/f00/layer/upper/a', KIB_100);
  put('units/f00/home/b', 1);
  put('units/f11/output', 1);
  put('units/f22/output', 1);
  const survey = createHomeSurvey({ home });
  const bytes = await all(survey.units(['f11', 'gone', 'f00'], 'bytes'));
  expect(bytes.map(({ id }) => id)).toEqual(['f11', 'f00']);
  expect(bytes[1]?.held).toBeGreaterThanOrEqual(KIB_100);
  // Two files in four directories.
  expect(await all(survey.units(['f00', 'f11'], 'files'))).toEqual([
    { id: 'f00', held: 6 },
    { id: 'f11', held: 2 },
  ]);
  expect(await all(createHomeSurvey({ home: join(home, 'none') }).units(['f00'], 'bytes'))).toEqual([]);
});

it('says what each directory holds, where what is linked into several is in the first, unless that takes too long', async () => {
  put('cache/layers/dependency', KIB_100);
  put('slugs/code', 1);
  linkSync(join(home, 'cache/layers/dependency'), join(home, 'slugs/dependency'));
  const [layers = '', slugs = '', gone = ''] = ['cache/layers', 'slugs', 'gone'].map((path) => join(home, path));
  const survey = createHomeSurvey({ home });
  const { signal } = new AbortController();
  expect([...(await survey.directories([layers, gone, slugs], 'files', signal))]).toEqual([
    [layers, 2],
    [slugs, 2],
  ]);
  const [first, second] = [
    await survey.directories([layers, slugs], 'bytes', signal),
    survey.directories([slugs], 'bytes', signal),
  ];
  expect(first.get(slugs)).toBeLessThan(KIB_100);
  expect((await second).get(slugs)).toBeGreaterThanOrEqual(KIB_100);
  await expect(survey.directories([slugs], 'bytes', AbortSignal.abort())).rejects.toThrow();
});

it('says what a unit holds before it has gone through those after it', async () => {
  for (let n = 0; n < 300; n += 1) put(`units/many/${n}`, 1);
  put('units/few/a', 1);
  for await (const { id } of createHomeSurvey({ home }).units(['few', 'many'], 'bytes')) {
    expect(id).toBe('few');
    break;
  }
});
