import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { measuredCommit } from './commit.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tancho-commit-'));
});

afterEach(() => rm(directory, { recursive: true }));

test('what is measured is named by its commit, and by whether anything was changed since', async () => {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: directory, encoding: 'utf8' });
  git('init', '-q');
  await writeFile(join(directory, 'file'), 'one');
  git('add', 'file');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'one');
  git('tag', 'v1');
  const commit = git('rev-parse', '--short=8', 'HEAD').trim();
  expect(await measuredCommit(directory)).toBe(commit);
  await writeFile(join(directory, 'file'), 'two');
  expect(await measuredCommit(directory)).toBe(`${commit} with changes`);
});

test('outside of a checkout there is no commit', async () => {
  expect(await measuredCommit(directory)).toBeNull();
});
