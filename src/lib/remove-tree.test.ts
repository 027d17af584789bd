import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from './remove-tree.ts';
import { itLong } from '../../test/support/long-cases.ts';

/** Puts a link to `outside` in the place of the directory `d` again and again, as fast as it can. */
const SWAPPER = `
const fs = require('node:fs');
const [tree, outside] = process.argv.slice(1);
const attempt = (work) => { try { work(); } catch {} };
for (;;) {
  attempt(() => fs.renameSync(tree + '/d', tree + '/x'));
  attempt(() => fs.symlinkSync(outside, tree + '/d'));
  attempt(() => fs.unlinkSync(tree + '/d'));
  attempt(() => fs.renameSync(tree + '/x', tree + '/d'));
}`;

describe('removeTree', () => {
  let home = '';
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'tancho-remove-'));
  });
  afterEach(async () => {
    await removeTree(home);
    expect(existsSync(home)).toBe(false);
  });

  it('removes full and empty trees, files and links, several at once', async () => {
    const paths = ['full', 'empty', 'file', 'link', 'missing'].map((name) => join(home, name));
    mkdirSync(join(home, 'full', 'deeper'), { recursive: true });
    writeFileSync(join(home, 'full', 'deeper', 'file'), '');
    mkdirSync(join(home, 'empty'));
    writeFileSync(join(home, 'file'), '');
    symlinkSync('/etc', join(home, 'link'));
    await removeTree(...paths);
    expect(readdirSync(home)).toEqual([]);
    expect(existsSync('/etc/passwd')).toBe(true);
  });

  it('removes directories that their owner may not write', async () => {
    mkdirSync(join(home, 'tree', 'closed'), { recursive: true });
    writeFileSync(join(home, 'tree', 'closed', 'file'), '');
    chmodSync(join(home, 'tree', 'closed'), 0);
    await removeTree(join(home, 'tree'));
    expect(existsSync(join(home, 'tree'))).toBe(false);
  });

  it('removes what lies deeper than any path may be long', async () => {
    const name = 'd'.repeat(200);
    const dig = `for (let i = 0; i < 40; i++) { fs.mkdirSync('${name}'); process.chdir('${name}'); }`;
    mkdirSync(join(home, 'tree'));
    const child = spawn(process.execPath, ['-e', `const fs = require('node:fs'); ${dig}`], { cwd: join(home, 'tree') });
    expect(await once(child, 'exit')).toEqual([0, null]);
    await removeTree(join(home, 'tree'));
    expect(existsSync(join(home, 'tree'))).toBe(false);
  });

  itLong('never leaves the tree, whatever is exchanged under its hands', async () => {
    const outside = join(home, 'outside');
    const tree = join(home, 'tree');
    mkdirSync(outside);
    for (let n = 0; n < 50; n++) writeFileSync(join(outside, `f${n}`), '');
    mkdirSync(tree);
    const swapper = spawn(process.execPath, ['-e', SWAPPER, tree, outside], { stdio: 'ignore' });
    const ended = once(swapper, 'exit');
    try {
      for (let round = 0; round < 60; round++) {
        for (let n = 0; n < 30; n++) {
          try {
            mkdirSync(join(tree, 'd'), { recursive: true });
            writeFileSync(join(tree, 'd', `g${n}`), '');
          } catch {
            // Exchanged just now.
          }
        }
        await removeTree(tree).catch(() => undefined);
      }
    } finally {
      swapper.kill('SIGKILL');
      await ended;
    }
    expect(readdirSync(outside).filter((name) => name.startsWith('f'))).toHaveLength(50);
  });
});
