import { expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import { AUTO_PLATFORM } from '../../../domain/platforms/platform.ts';
import type { BuildPlan } from '../../build-plan.ts';
import { planSource } from '../../plan-source.ts';
import { LANGUAGES } from '../built-in.ts';

async function plan(files: Record<string, string>): Promise<BuildPlan> {
  const source = sourceOf(files);
  return (await planSource({ app: 'shop', platform: AUTO_PLATFORM, languages: LANGUAGES, files: source })).plan;
}

const installed = ({ dependencies }: BuildPlan): string[] =>
  dependencies.flatMap(({ steps }) => steps.map(({ name }) => name));

it('pages of MkDocs are built and served, with what their settings need', async () => {
  const made = await plan({ 'mkdocs.yml': 'site_name: x\ntheme:\n  name: material\n', 'docs/index.md': '# Hello\n' });
  expect([made.platform, made.title, made.site?.roots]).toEqual(['python', 'MkDocs', ['site']]);
  expect(installed(made)).toContain('uv pip install mkdocs mkdocs-material');
  expect(made.steps.map(({ name }) => name)).toEqual(['mkdocs build']);
  expect(made.processes['web']?.command).toContain('.tancho/server.mjs');
});

it('what the source lists is what is installed', async () => {
  const made = await plan({ 'mkdocs.yml': 'site_name: x\n', 'requirements.txt': 'mkdocs-material==9.5\n' });
  expect([made.title, installed(made).some((name) => name.includes(' mkdocs'))]).toEqual(['MkDocs', false]);
});

it.each<[string, Record<string, string>]>([
  ['an app', { 'requirements.txt': 'flask\nmkdocs\n', 'app.py': 'app = Flask(__name__)\n' }],
  ['a package', { 'pyproject.toml': '[project]\nname = "x"\n' }],
  ['a program of its own', { Procfile: 'web: python x.py\n' }],
])('documentation of %s is not what is served', async (_what, files) => {
  expect((await plan({ 'mkdocs.yml': 'site_name: x\n', ...files })).title).not.toBe('MkDocs');
});
