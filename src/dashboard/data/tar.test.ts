/** What was packed in the browser is unpacked by tar. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { archiveOf, isLeftOut } from './tar.ts';

it('packs names of every length and script, sizes and scripts as they are', async () => {
  const files = {
    'index.js': 'console.log(1)',
    'bin/run': '#!/bin/sh\necho hi\n',
    [`${'deep/'.repeat(30)}file.txt`]: 'x'.repeat(513),
    'ünï/文件.txt': 'text',
    'exact.bin': 'y'.repeat(512),
    empty: '',
  };
  const packed = await archiveOf(Object.entries(files).map(([path, text]) => ({ path, file: new Blob([text]) })));
  const folder = mkdtempSync(join(tmpdir(), 'tancho-tar-'));
  try {
    writeFileSync(join(folder, 'a.tgz'), Buffer.from(await packed.arrayBuffer()));
    execFileSync('tar', ['-xzf', 'a.tgz'], { cwd: folder, env: { ...process.env, LC_ALL: 'C.UTF-8' } });
    for (const [path, text] of Object.entries(files)) expect(readFileSync(join(folder, path), 'utf8')).toBe(text);
    expect(statSync(join(folder, 'bin/run')).mode & 0o111).not.toBe(0);
    expect(statSync(join(folder, 'index.js')).mode & 0o111).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('leaves out what the build makes anew', () => {
  expect(['node_modules/a.js', 'web/.git/HEAD', 'src/a.py'].map(isLeftOut)).toEqual([true, true, false]);
});
