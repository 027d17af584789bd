import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../test/support/memory-source.ts';
import { NO_SETTINGS, type AppSettings } from '../domain/apps/app-settings.ts';
import { LANGUAGES } from './languages/built-in.ts';
import { nodejs } from './languages/node/node.ts';
import { planSource } from './plan-source.ts';

const PACKAGE = JSON.stringify({ scripts: { build: 'tsc' }, devDependencies: { typescript: '5' } });

function planned(settings: Partial<AppSettings>, files: Readonly<Record<string, string>> = {}) {
  const source = sourceOf({ 'package.json': PACKAGE, 'package-lock.json': '{}', ...files });
  const set = { ...NO_SETTINGS, ...settings };
  return planSource({ app: 'shop', platform: 'nodejs', languages: [nodejs], files: source, settings: set });
}

it('what is set on the app starts it, before what its files say', async () => {
  const { plan } = await planned({ startCommands: { web: 'node dist' } }, { Procfile: 'web: no\nworker: node worker' });
  expect(plan.problems).toEqual([]);
  expect(plan.processes).toEqual({
    web: { command: 'node dist', from: 'set on the app' },
    worker: { command: 'node worker', from: 'Procfile' },
  });
});

it('a build command takes the place of the steps, with what they need; hooks run after it', async () => {
  const startCommands = { web: 'node dist' };
  const { plan, commands } = await planned(
    { startCommands, buildCommand: 'make' },
    { 'tancho.yaml': 'hooks:\n  build: [make check]' },
  );
  expect(plan.steps).toEqual([]);
  expect(plan.dependencies.flatMap(({ steps }) => steps.map(({ run }) => run.join(' ')))).toEqual([
    'npm ci --include=dev',
  ]);
  expect(commands).toEqual([
    { from: 'build command', command: 'make' },
    { from: 'hooks.build', command: 'make check' },
  ]);
});

it('packages for development stay where that is set', async () => {
  const startCommands = { web: 'node dist' };
  const stepsOf = async (keepDevPackages: boolean): Promise<string[]> =>
    (await planned({ startCommands, keepDevPackages })).plan.steps.map(({ name }) => name);
  expect(await stepsOf(false)).toHaveLength(2);
  expect(await stepsOf(true)).toEqual(['npm run build']);
});

describe('a source with the packages of two languages', () => {
  const pages = JSON.stringify({ scripts: { start: 'next start', build: 'next build' }, dependencies: { next: '15' } });
  const of = async (files: Readonly<Record<string, string>>) =>
    (await planSource({ app: 'shop', platform: 'auto', languages: LANGUAGES, files: sourceOf(files) })).plan;

  it('is of the one that starts, where nothing of the other one does', async () => {
    const documentation = '[project]\nname = "shop-docs"\nversion = "1"\ndependencies = ["zensical"]\n';
    const plan = await of({ 'package.json': pages, 'package-lock.json': '{}', 'pyproject.toml': documentation });
    expect(plan).toMatchObject({ platform: 'nodejs', problems: [], processes: { web: { command: 'npm start' } } });
    expect(plan.notes.at(-1)).toMatch(/^It is not taken for python: The app says nowhere how it is started/);
  });

  it('is built by its Dockerfile, where nothing else starts', async () => {
    const files = { 'requirements.txt': 'tornado', Dockerfile: 'FROM python:3.13\nCMD ["python", "-m", "viewer"]\n' };
    expect((await of(files)).platform).toBe('dockerfile');
    expect((await of({ ...files, Procfile: 'web: python -m viewer' })).platform).toBe('python');
    expect((await of({ ...files, Dockerfile: 'FROM' })).platform).toBe('python');
  });

  it('is built by its Dockerfile also where there is a page whose style a script builds', async () => {
    const tools = JSON.stringify({ scripts: { build: 'tailwindcss' }, devDependencies: { tailwindcss: '4' } });
    const page = { 'index.html': '<h1>Till</h1>', 'package.json': tools, 'package-lock.json': '{}' };
    const recipe = { Dockerfile: 'FROM python:3.13\nCMD ["python", "app/main.py"]\n', 'app/main.py': '' };
    expect((await of({ ...page, ...recipe })).platform).toBe('dockerfile');
    expect((await of({ ...page, ...recipe, 'requirements.txt': 'tornado' })).platform).toBe('dockerfile');
    expect(await of(page)).toMatchObject({
      platform: 'nodejs',
      problems: [],
      site: { roots: expect.arrayContaining(['.']) as string[] },
    });
  });

  it('is no site where something of it may be a program, whose code everybody could read then', async () => {
    const page = {
      'index.html': '<script src="./js/a.js?1"></script>',
      'js/a.js': '',
      'img/a.png': '',
      'a/b.html': '<script src=/js/b.js>',
      'js/b.js': '',
    };
    for (const scripts of [{ build: 'tailwindcss' }, {}]) {
      const site = { ...page, 'package.json': JSON.stringify({ scripts }), '.prettierrc': '', LICENSE: '' };
      expect((await of(site)).problems).toEqual([]);
      for (const file of [
        'server.mjs',
        'src/server.js',
        'api/orders.js',
        'server.ts',
        'cmd/main.rs',
        'data/users.json',
        'config.yml',
      ]) {
        const plan = await of({ ...site, [file]: '' });
        expect([file, plan.problems[0]?.cause]).toEqual([file, 'no_process']);
      }
    }
  });

  it('is built by the Dockerfile of a package from that directory alone, where nothing of the package starts', async () => {
    const files = {
      ...{ 'package.json': '{ "workspaces": ["web"] }', 'package-lock.json': '{}', Dockerfile: 'FROM top' },
      ...{ 'web/package.json': '{ "name": "web" }', 'web/Dockerfile': 'FROM scratch\nCMD ["/serve"]\n' },
      'web/tancho.yaml': 'hooks: { release: [/migrate] }\n',
    };
    const { plan, appFiles } = await planSource({
      ...{ app: 'shop', platform: 'auto', languages: LANGUAGES, files: sourceOf(files), directory: 'web' },
    });
    expect(plan).toMatchObject({ platform: 'dockerfile', image: { file: 'Dockerfile', ownCommand: true } });
    expect(appFiles.release).toEqual(['/migrate']);
  });

  it.each([
    ['both start', { 'requirements.txt': 'flask', 'app.py': 'app = Flask(__name__)', 'package.json': pages }],
    ['neither does', { 'requirements.txt': 'zensical', 'package.json': '{}' }],
    ['the other one cannot be read', { 'requirements.txt': 'zensical', 'package.json': '{' }],
  ])('is of the first one, where %s', async (_, files) => {
    expect((await of(files)).platform).toBe('python');
  });
});
