import {
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NOT_ROOT, skipFor } from '../../../../../test/support/skips.ts';
import { isLargerThan, seal } from './copy-tree.ts';

let tree = '';
beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'tancho-tree-'));
});
afterEach(() => rmSync(tree, { recursive: true, force: true }));

describe('seal', skipFor(NOT_ROOT), () => {
  it('takes everything, without following links', async () => {
    const outside = join(tree, 'outside');
    const inner = join(tree, 'made', 'inner');
    mkdirSync(inner, { recursive: true });
    writeFileSync(outside, '', { mode: 0o600 });
    writeFileSync(join(inner, 'program'), '', { mode: 0o6700 });
    symlinkSync(outside, join(inner, 'link'));
    linkSync(outside, join(inner, 'hard-link'));
    for (const path of [join(inner, 'program'), inner, join(tree, 'made')]) chownSync(path, 71_234, 71_234);
    await seal(join(tree, 'made'));
    expect(lstatSync(inner)).toMatchObject({ uid: 0, gid: 0, mode: 0o40755 });
    expect(lstatSync(join(inner, 'program'))).toMatchObject({ uid: 0, mode: 0o100755 });
    expect(lstatSync(outside).mode & 0o777).toBe(0o600);
  });

  it('takes names that are no UTF-8 as well', async () => {
    const odd = Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xe9])]);
    mkdirSync(odd);
    const inner = Buffer.concat([odd, Buffer.from([0x2f, 0xff])]);
    writeFileSync(inner, '');
    for (const path of [inner, odd, tree]) chownSync(path, 71_234, 71_234);
    await seal(tree);
    expect([lstatSync(odd).uid, lstatSync(inner).uid]).toEqual([0, 0]);
  });

  it('has few files open at a time, however wide the tree is', async () => {
    for (let a = 0; a < 33; a++)
      for (let b = 0; b < 33; b++) mkdirSync(join(tree, `${a}`, `${b}`), { recursive: true });
    const before = readdirSync('/proc/self/fd').length;
    let most = 0;
    let sealed = false;
    const watch = (): void => {
      most = Math.max(most, readdirSync('/proc/self/fd').length - before);
      if (!sealed) setImmediate(watch);
    };
    watch();
    await seal(tree);
    sealed = true;
    expect(most).toBeLessThan(64);
  });
});

describe('isLargerThan', () => {
  it('adds up files at every depth, and counts empty ones too', async () => {
    mkdirSync(join(tree, 'deep', 'deeper'), { recursive: true });
    writeFileSync(join(tree, 'deep', 'deeper', 'file'), Buffer.alloc(100_000));
    expect(await isLargerThan(tree, 99_000)).toBe(true);
    expect(await isLargerThan(tree, 200_000)).toBe(false);
    for (let n = 0; n < 50; n++) writeFileSync(join(tree, `empty-${n}`), '');
    expect(await isLargerThan(tree, 200_000)).toBe(true);
  });

  it('looks at no link, and finds nothing where nothing is', async () => {
    symlinkSync('/usr', join(tree, 'link'));
    expect(await isLargerThan(tree, 10_000)).toBe(false);
    expect(await isLargerThan(join(tree, 'missing'), 0)).toBe(false);
  });
});
