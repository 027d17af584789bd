import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { treeOf } from '../../../../../test/support/source-trees.ts';
import { SourceFiles } from '../../../../build-plan/source/source-files.ts';
import { YamlNode } from '../../../../build-plan/yaml-node.ts';
import { type Facts, holds, readCondition } from './conditions.ts';
import { loadPlatforms } from './load-platforms.ts';

const SHIPPED = new URL('../../../../../platforms', import.meta.url).pathname;
const NONE: Facts = new Map();
let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'conditions-'));
});
afterAll(() => rm(root, { recursive: true }));

async function filesOf(tree: Record<string, string>): Promise<SourceFiles> {
  const directory = await mkdtemp(join(root, 'tree-'));
  await treeOf(tree).extract(directory, new AbortController().signal);
  return new SourceFiles(directory);
}

const condition = (text: string) => readCondition(YamlNode.parse('x.yaml', text), NONE);

it('finds a pattern in any line of a file', async () => {
  const files = await filesOf({
    'requirements.txt': '\uFEFFflask\r\n\r\n  gunicorn==20\n',
    'a/settings.py': 'X = 1\n',
  });
  const asks = (text: string): Promise<boolean> => holds(condition(text), files, NONE);
  expect(await asks("text: { file: requirements.txt, matches: '^\\s*gunicorn\\b' }")).toBe(true);
  expect(await asks("text: { file: requirements.txt, matches: '^flask$' }")).toBe(true);
  expect(await asks("text: { file: requirements.txt, matches: '^unicorn' }")).toBe(false);
  expect(await asks("text: { file: '*/settings.py', matches: '^X' }")).toBe(true);
  expect(await asks('text: { file: missing.txt, matches: x }')).toBe(false);
});

it('of the shipped platforms is soon decided, whatever the files hold', async () => {
  const blank = '\n'.repeat(1_000_000);
  const start = `node${' a'.repeat(100_000)} !`;
  const files = await filesOf({
    'requirements.txt': blank,
    'pyproject.toml': 'a\n'.repeat(500_000),
    'yarn.lock': `${' '.repeat(1_000_000)}\n`,
    'wsgi.py': blank,
    'app.py': blank,
    'manage.py': '',
    'a/settings.py': blank,
    'package.json': JSON.stringify({ scripts: { start } }),
  });
  const begun = performance.now();
  for (const { facts } of (await loadPlatforms(SHIPPED)).values()) {
    for (const name of facts.keys()) await holds({ kind: 'fact', name }, files, facts);
  }
  expect(performance.now() - begun).toBeLessThan(5_000);
});
