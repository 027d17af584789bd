import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import { AUTO_PLATFORM } from '../../../domain/platforms/platform.ts';
import type { BuildPlan } from '../../build-plan.ts';
import { planSource } from '../../plan-source.ts';
import { LANGUAGES } from '../built-in.ts';

async function plan(files: Record<string, string>): Promise<BuildPlan> {
  const source = sourceOf(files);
  return (await planSource({ app: 'shop', platform: AUTO_PLATFORM, languages: LANGUAGES, files: source })).plan;
}

const SITE = { 'hugo.toml': 'baseURL = "https://example.org/"\n', 'content/first.md': '# Hello\n' };
const steps = ({ steps: made }: BuildPlan): string[] => made.map(({ name }) => name);

describe('a site of Hugo', () => {
  it('is built and served as files, at whatever name it is asked by', async () => {
    const { platform, steps: made, site, processes, environment } = await plan(SITE);
    expect([platform, made, site?.roots]).toEqual(['hugo', [{ name: 'hugo', run: ['hugo'] }], ['public']]);
    expect(processes['web']?.command).toContain('.tancho/server.mjs');
    expect(environment).toContainEqual({ name: 'HUGO_BASEURL', value: '/', scope: 'build' });
  });

  it.each<[string, Record<string, string>]>([
    ['settings of before 0.110', { 'config.toml': 'baseurl = "/"\n', 'content/a.md': '', 'layouts/index.html': '' }],
    ['settings in a directory', { 'config/_default/hugo.yaml': 'title: x\n' }],
    ['modules', { ...SITE, 'go.mod': 'module x\n' }],
    ['packages of npm', { ...SITE, 'package.json': '{}' }],
    ['pages of its own', { ...SITE, 'public/index.html': '' }],
  ])('is known with %s', async (_what, files) => {
    expect((await plan(files)).platform).toBe('hugo');
  });

  it.each<[Record<string, string>]>([
    [{ 'config.toml': 'baseURL = "/"\n', 'package.json': '{"scripts":{"start":"x"}}' }],
    [{ 'config.yaml': 'name: x\n', 'content/a.md': '', 'layouts/a.html': '', 'index.html': '<p>' }],
  ])('is not what %j is', async (files) => {
    expect((await plan(files)).platform).not.toBe('hugo');
  });

  it('lies where its settings put it', async () => {
    const { site } = await plan({ ...SITE, 'hugo.toml': "publishDir = 'docs/html' # for others\n" });
    expect(site?.roots).toEqual(['docs/html']);
  });

  it('has Go for its modules, and its packages of npm before it is built', async () => {
    const { tools } = await plan({ ...SITE, 'go.mod': 'module x\n' });
    expect(tools.map(({ program }) => program)).toEqual(['hugo', 'python3', 'go', 'node']);
    const packages = { dependencies: { postcss: '8' } };
    const styled = await plan({ ...SITE, 'package.json': JSON.stringify(packages) });
    expect([styled.dependencies.length, steps(styled)]).toEqual([1, ['hugo']]);
    const build = (script: string): Promise<BuildPlan> =>
      plan({ ...SITE, 'package.json': JSON.stringify({ ...packages, scripts: { build: script } }) });
    expect(steps(await build('postcss a.css'))).toEqual([
      'npm run build',
      'hugo',
      'removing the packages of the front end',
    ]);
    const calls = { ...packages, scripts: { build: 'npm run site', site: 'postcss a.css && hugo --minify' } };
    expect(steps(await plan({ ...SITE, 'package.json': JSON.stringify(calls) }))).toEqual([
      'npm run build',
      'removing the packages of the front end',
    ]);
  });

  it('is built by the version that other hosts go by, where that can be had', async () => {
    const asked = (version: string): Promise<BuildPlan> =>
      plan({ ...SITE, 'netlify.toml': `[build.environment]\n  HUGO_VERSION = "${version}"\n` });
    const { tools } = await asked('0.150.1');
    expect(tools[0]?.wanted).toEqual({ range: '0.150.1', text: '0.150.1', from: 'netlify.toml' });
    const old = await asked('0.92.2');
    expect(old.tools[0]?.wanted?.range).toBe('0.92.2 || 0.147.8');
    expect(old.notes).toContainEqual(expect.stringContaining('netlify.toml asks for Hugo 0.92.2'));
  });

  it('needs its theme, which a submodule does not bring', async () => {
    const files = { ...SITE, 'hugo.toml': 'title = "x"\ntheme = "ananke"\n' };
    const [problem] = (await plan(files)).problems;
    expect(problem?.message).toBe('hugo.toml line 2 names the theme ananke, and there is nothing in themes/ananke.');
    const modules = '[submodule "themes/ananke"]\n\tpath = themes/ananke\n\turl = https://example.org/a\n';
    const [submodule] = (await plan({ ...files, '.gitmodules': modules })).problems;
    expect(submodule?.hint).toContain(
      'git rm -q --cached themes/ananke && rm themes/ananke/.git && git add themes/ananke',
    );
    expect((await plan({ ...files, 'themes/ananke/layouts/index.html': '' })).problems).toEqual([]);
    const module = { ...SITE, 'hugo.toml': 'theme = "github.com/somebody/theme"\n', 'go.mod': 'module x\n' };
    expect((await plan(module)).problems).toEqual([]);
  });
});
