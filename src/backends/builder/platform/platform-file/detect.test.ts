import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { treeOf } from '../../../../../test/support/source-trees.ts';
import { SourceFiles } from '../../../../build-plan/source/source-files.ts';
import { holds } from './conditions.ts';
import { checkSource, findPlatform } from './detect.ts';
import { loadPlatforms } from './load-platforms.ts';
import type { Platform } from './platform-file.ts';

const SHIPPED = new URL('../../../../../platforms', import.meta.url).pathname;
let platforms: Map<string, Platform>;
let root: string;

beforeAll(async () => {
  platforms = await loadPlatforms(SHIPPED);
  root = await mkdtemp(join(tmpdir(), 'detect-'));
});
afterAll(() => rm(root, { recursive: true }));

async function check(platform: string, files: Record<string, string>): Promise<void> {
  const directory = await mkdtemp(join(root, 'tree-'));
  await treeOf(files).extract(directory, new AbortController().signal);
  await checkSource('shop', findPlatform('shop', platform, platforms), platforms, new SourceFiles(directory));
}

it('what platforms ask of a source is answered soon, whatever it holds', async () => {
  const directory = await mkdtemp(join(root, 'tree-'));
  const names = ['requirements.txt', '.python-version', 'runtime.txt', 'pyproject.toml', 'tancho.yaml', 'app.py'];
  const blank = '\n'.repeat(300_000);
  const files = Object.fromEntries(names.map((name) => [name, blank]));
  await treeOf({ ...files, 'package.json': '{"scripts":{"build":"x"}}' }).extract(
    directory,
    new AbortController().signal,
  );
  const source = new SourceFiles(directory);
  const begun = performance.now();
  for (const { facts, notes, steps, processes, dependencies, tools } of platforms.values()) {
    const conditions = [...facts.values(), ...[...notes, ...steps, ...processes].map(({ when }) => when)];
    for (const one of [...conditions, ...dependencies.map(({ neverKept }) => neverKept)])
      await holds(one, source, facts);
    for (const { file, matches } of tools.flatMap(({ asked }) => asked)) matches.test((await source.text(file)) ?? '');
  }
  expect(performance.now() - begun).toBeLessThan(2_000);
});

describe('the platform of an app', () => {
  it.each([
    ['nodejs', { 'package.json': '{}' }],
    ['python', { 'requirements.txt': '', 'package.json': '{}' }],
    ['go', { 'go.mod': 'module x' }],
    ['static', { 'public/index.html': '' }],
  ])('%s accepts its own sources', async (platform, files) => {
    await check(platform, files);
  });

  it('names both platforms and the command when the source is of another one', async () => {
    await expect(check('nodejs', { 'requirements.txt': 'flask' })).rejects.toMatchObject({
      code: 'no_platform',
      message: expect.stringMatching(
        /of the platform nodejs, but the source looks like python \(it has requirements.txt\)/,
      ) as string,
      hint: expect.stringContaining('tancho app create <name> python') as string,
    });
  });

  it('says what it looked for when the source is of none', async () => {
    await expect(check('nodejs', { 'README.md': '' })).rejects.toThrow(
      /has none of: package.json, server.js, index.js, app.js/,
    );
  });

  it('says how to deploy the directory in which the app lies', async () => {
    await expect(check('nodejs', { 'README.md': '', 'api/package.json': '{}' })).rejects.toMatchObject({
      message: expect.stringMatching(/There is api\/package\.json, but the app must lie at the top\./) as string,
      hint: 'Deploy that directory: tancho deploy api -a shop   or: git subtree push --prefix api <remote> main',
    });
  });

  it('says which platforms there are', async () => {
    await expect(check('cobol', {})).rejects.toMatchObject({
      hint: 'Platforms of this server: go, nodejs, python, static.',
    });
  });
});
