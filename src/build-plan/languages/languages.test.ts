import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../test/support/memory-source.ts';
import type { BuildPlan } from '../build-plan.ts';
import { AUTO_PLATFORM } from '../../domain/platforms/platform.ts';
import { planSource } from '../plan-source.ts';
import { LANGUAGES } from './built-in.ts';

async function plan(files: Record<string, string>, platform = AUTO_PLATFORM): Promise<BuildPlan> {
  return (await planSource({ app: 'shop', platform, languages: LANGUAGES, files: sourceOf(files) })).plan;
}

const web = ({ processes }: BuildPlan): string | undefined => processes['web']?.command;

it('every language says how its tools are installed, and names only tools and words that are there', async () => {
  const sources: Record<string, string>[] = [
    { 'go.mod': 'module x', 'main.go': 'package main\nfunc main() {}\n' },
    { 'Cargo.toml': '[package]\nname = "x"', 'src/main.rs': '' },
    { 'pyproject.toml': '', 'app.py': 'app = 1' },
    { 'package.json': '{"dependencies":{"a":"1"},"scripts":{"build":"x"}}', 'yarn.lock': '', 'server.js': '' },
    { 'pom.xml': '' },
    { gradlew: '', 'build.gradle': '' },
    { 'composer.json': '{"require":{"slim/slim":"4"}}', 'index.php': '' },
    { Gemfile: 'gem "rails"', 'config.ru': '' },
    { 'index.html': '' },
  ];
  for (const source of sources) {
    const { tools, sharedTools, steps, dependencies } = await plan(source);
    for (const tool of tools) expect(Object.keys(tool.install), tool.program).not.toEqual([]);
    const known = ['app', 'code', 'downloads', 'layer', ...sharedTools.map(({ name }) => name)];
    const words = [...steps, ...dependencies.flatMap((set) => set.steps)].flatMap(({ run }) => run);
    const used = words.flatMap((word) => [...word.matchAll(/\{([^{}]*)\}/g)].map((match) => match[1] ?? ''));
    expect(used.filter((word) => !known.includes(word))).toEqual([]);
  }
});

it('any plan is made, whatever the files hold', async () => {
  const blank = '\n'.repeat(1_000_000);
  const start = `node${' a'.repeat(100_000)} !`;
  const names = ['requirements.txt', '.python-version', 'runtime.txt', 'wsgi.py', 'app.py', 'a/settings.py', '.nvmrc'];
  const files = Object.fromEntries(names.map((name) => [name, blank]));
  const hostile = {
    ...files,
    'manage.py': '',
    'Cargo.toml': blank.slice(0, 250_000),
    'Cargo.lock': blank,
    'rust-toolchain': blank,
    'go.mod': blank,
    'pom.xml': blank,
    'deno.json': blank,
    'hugo.toml': blank,
    'build.gradle': blank,
    'index.php': '',
    'config.ru': '',
    'a.go': `${' '.repeat(1_000_000)}\n`,
    Dockerfile: `FROM a\n${'RUN \\\n'.repeat(100_000)}ARG ${'A=$B'.repeat(50_000)}\n`,
    'index.html': `${'<script '.repeat(200_000)}`,
    'yarn.lock': `${' '.repeat(1_000_000)}\n`,
    'package.json': JSON.stringify({ scripts: { start }, engines: { node: '>=18' } }),
  };
  for (const { name } of LANGUAGES) expect((await plan(hostile, name)).platform).toBe(name);
});

describe('static', () => {
  it('serves what a generator made before what it was made from', async () => {
    const made = await plan({ 'index.html': '' });
    expect(made).toMatchObject({
      problems: [],
      warnings: [],
      site: { roots: ['dist', 'build', '_site', '.', 'site', 'public'] },
    });
    expect(web(made)).toContain('.tancho/server.mjs');
    const named = await plan({ 'index.html': '', 'tancho.yaml': 'static: { root: x }' }, 'static');
    expect(named.site).toBeNull();
  });

  it.each([
    '<script type="module" src="/src/main.ts"></script>',
    '<script type="module" src="./src/App.tsx"></script>',
    '<link rel="icon" href="%PUBLIC_URL%/favicon.ico" />',
  ])('is never the unbuilt page with %s', async (line) => {
    const source = { 'index.html': `<html>\n${line}\n</html>`, 'package.json': '{"scripts":{"build":"vite build"}}' };
    expect((await plan(source, 'static')).problems).toMatchObject([
      {
        cause: 'no_platform',
        message: expect.stringMatching(/^index.html line 2 needs a build/) as string,
        hint: expect.stringContaining('tancho app update shop --platform nodejs') as string,
      },
    ]);
    const built = { ...source, 'dist/index.html': '<script src="/assets/a.js"></script>' };
    expect((await plan(built, 'static')).problems).toEqual([]);
    const hook = { ...source, 'tancho.yaml': 'hooks: { build: [npm run build] }' };
    expect((await plan(hook, 'static')).problems).toEqual([]);
  });

  it('warns of a build script that it does not run', async () => {
    const { warnings } = await plan({ 'index.html': '', 'package.json': '{"scripts":{"build":"sass"}}' }, 'static');
    expect(warnings).toMatchObject([expect.stringContaining('does not run')]);
  });
});
