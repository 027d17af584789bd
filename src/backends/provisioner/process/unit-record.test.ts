import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { findProgram } from '../../../lib/find-program.ts';
import { makeUnitDirectories, removeUnitDirectories, unitPaths } from './unit-record.ts';

let home = '';
const path = process.env['PATH'];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'unit-record-'));
});
afterEach(() => {
  process.env['PATH'] = path;
  rmSync(home, { recursive: true, force: true });
});

it('a removal that goes on after the end of who began it does not touch what the next life of the unit writes', async () => {
  const paths = unitPaths(home, 'u1');
  const [begun, late, bin] = ['begun', 'late', 'bin'].map((name) => join(home, name)) as [string, string, string];
  await makeUnitDirectories(paths);
  for (const directory of [paths.home, paths.tmp]) writeFileSync(join(directory, 'old'), '');
  // As slow as one that has much to remove.
  mkdirSync(bin);
  const slow = `#!/bin/sh\ntouch ${begun}\nwhile [ ! -e ${late} ]; do sleep 0.01; done\nexec ${findProgram('rm') ?? 'rm'} "$@"\n`;
  writeFileSync(join(bin, 'rm'), slow);
  chmodSync(join(bin, 'rm'), 0o755);
  process.env['PATH'] = `${bin}:${path}`;
  const removing = removeUnitDirectories(paths);
  await until(() => existsSync(begun), { what: 'the removal to begin' });
  await makeUnitDirectories(paths);
  for (const directory of [paths.home, paths.tmp]) writeFileSync(join(directory, 'new'), '');
  writeFileSync(late, '');
  await removing;
  expect([paths.home, paths.tmp].map((directory) => readdirSync(directory))).toEqual([['new'], ['new']]);
  expect(readdirSync(paths.directory).toSorted()).toEqual(['home', 'tmp']);
});
