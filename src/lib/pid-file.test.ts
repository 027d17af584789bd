import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isRunning, readPidFile, writePidFile } from './pid-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-pid-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('names this process, which runs', async () => {
  const path = join(folder, 'x.pid');
  await writePidFile(path);
  const record = await readPidFile(path);
  expect(record?.pid).toBe(process.pid);
  expect(record !== null && (await isRunning(record))).toBe(true);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(path, 'utf8')).toBe(`${process.pid}\n`);
});

it('leaves nothing beside it when it cannot be written', async () => {
  const path = join(folder, 'x.pid');
  await mkdir(`${path}.start`);
  await expect(writePidFile(path)).rejects.toThrow();
  expect(await readdir(folder)).toEqual(['x.pid.start']);
});

it('a pid that another process has since is not running', async ({ skip }) => {
  skip(process.platform !== 'linux', 'start times are only known on Linux');
  expect(await isRunning({ pid: process.pid, start: '1' })).toBe(false);
});

it('a process that has ended is not running', async () => {
  const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
  const { pid = 0 } = child;
  await once(child, 'exit');
  expect(await isRunning({ pid, start: '' })).toBe(false);
});

it.each([
  ['12\n', { pid: 12, start: '' }],
  ['12', { pid: 12, start: '' }],
  ['', null],
  ['0', null],
  ['12 34', null],
  ['-1', null],
  ['x', null],
])('reads %j', async (text, expected) => {
  const path = join(folder, 'x.pid');
  await writeFile(path, text);
  expect(await readPidFile(path)).toEqual(expected);
});

it('takes no start time that belongs to another pid', async () => {
  const path = join(folder, 'x.pid');
  await writeFile(path, '12\n');
  await writeFile(`${path}.start`, '13 34\n');
  expect(await readPidFile(path)).toEqual({ pid: 12, start: '' });
  await writeFile(`${path}.start`, '12 34\n');
  expect(await readPidFile(path)).toEqual({ pid: 12, start: '34' });
});

it('a missing file is null', async () => {
  expect(await readPidFile(join(folder, 'none'))).toBeNull();
});
