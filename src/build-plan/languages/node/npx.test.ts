import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PLATFORM_FILES } from '../../../../test/support/builder-world.ts';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import { planSource } from '../../plan-source.ts';
import { nodejs } from './node.ts';

async function plan(packageJson: object, files: Record<string, string> = {}) {
  const source = sourceOf({ 'package.json': JSON.stringify(packageJson), ...files });
  return (await planSource({ app: 'shop', platform: 'nodejs', languages: [nodejs], files: source })).plan;
}

it.each<[string, string[]]>([
  ['npx serve -s build', ['serve']],
  ['npx -y @scope/x@1.2 a', ['@scope/x@1.2']],
  ['npm run a && npx --yes b@^2', ['c', 'b@^2']],
  ['npx -p typescript tsc', []],
  ['npx vite-node x.ts', []],
  ['node npx-like.js', []],
])('"%s" has what it runs from the build', async (start, expected) => {
  const made = await plan({ scripts: { start, a: 'npx c' }, devDependencies: { 'vite-node': '3' } });
  const steps = made.steps.filter(({ run }) => run.includes('.tancho/npx-packages.mjs'));
  expect(steps.flatMap(({ run }) => run.slice(3)).sort()).toEqual([...expected].sort());
  const prefix = { name: 'npm_config_prefix', value: '{code}/.tancho/npx', scope: 'run' };
  expect(made.environment.some(({ name }) => name === prefix.name)).toBe(expected.length > 0);
  if (expected.length > 0) expect(made.environment).toContainEqual(prefix);
});

it('installs only what no package has', async () => {
  const home = await mkdtemp(join(tmpdir(), 'npx-'));
  try {
    for (const place of ['node_modules/.bin', 'apps/web/node_modules/.bin', 'bin']) {
      await mkdir(join(home, place), { recursive: true });
    }
    await writeFile(join(home, 'node_modules/.bin/serve'), '');
    await writeFile(join(home, 'apps/web/node_modules/.bin/x'), '');
    await writeFile(join(home, 'bin/npm'), '#!/bin/sh\necho "$@" > asked\n', { mode: 0o755 });
    const script = join(PLATFORM_FILES, 'nodejs/npx-packages.mjs');
    const options = { cwd: home, env: { PATH: `${home}/bin:${process.env['PATH'] ?? ''}` } };
    const run = (...specs: string[]) => promisify(execFile)(process.execPath, [script, 'apps/web', ...specs], options);
    expect((await run('serve@14', '@scope/x')).stdout).toBe('');
    await run('serve', '@scope/y@1');
    expect(await readFile(join(home, 'asked'), 'utf8')).toMatch(
      /^install --global --prefix \S+\/\.tancho\/npx @scope\/y@1\n$/,
    );
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});
