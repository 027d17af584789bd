import { expect, it } from 'vitest';
import { sourceOf } from '../../../test/support/memory-source.ts';
import { AUTO_PLATFORM } from '../../domain/platforms/platform.ts';
import type { BuildPlan } from '../build-plan.ts';
import { planSource } from '../plan-source.ts';
import { LANGUAGES } from './built-in.ts';

async function planOf(files: Record<string, string>): Promise<BuildPlan> {
  const request = { app: 'shop', platform: AUTO_PLATFORM, languages: LANGUAGES, files: sourceOf(files) };
  return (await planSource(request)).plan;
}

it('of a Django project is built before its static files are collected, and needs no Node where it runs', async () => {
  const plan = await planOf({
    'requirements.txt': 'django',
    'manage.py': "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')",
    'shop/settings.py': 'STATIC_ROOT = "static"',
    'shop/wsgi.py': '',
    'package.json': '{"scripts":{"build":"vite build"},"devDependencies":{"vite":"^7"}}',
  });
  expect(plan.platform).toBe('python');
  expect(plan.steps.map(({ name }) => name)).toEqual([
    'npm run build',
    'npm prune',
    expect.stringContaining('collectstatic'),
    'removing the packages of the front end',
  ]);
  expect(plan.dependencies.map(({ name }) => name)).toEqual(['Python packages', 'npm packages']);
  expect(plan.tools.find(({ program }) => program === 'node')?.runtime).toBe(false);
  expect(plan.processes['web']?.command).toContain('gunicorn');
});

const FLASK = { 'requirements.txt': 'flask', 'app.py': 'from flask import Flask\napp = Flask(__name__)' };
const BUILT = { 'package.json': '{"scripts":{"build":"vite build"},"devDependencies":{"vite":"^7"}}' };
// What package.json asks for is not what was locked.
const OLD_LOCK = { 'package-lock.json': '{"lockfileVersion":3,"packages":{"":{"devDependencies":{"vite":"^6"}}}}' };

it.each([
  ['nothing names it: the deploy goes on without', FLASK, 'front end'],
  ['a package of the app reads what it makes', { ...FLASK, 'requirements.txt': 'flask\nFlask-Vite' }, undefined],
])('of a Python app where %s', async (_, app, optional) => {
  const plan = await planOf({ ...app, ...BUILT });
  const parts = [...plan.dependencies.slice(1), ...plan.steps.slice(0, -1)];
  expect(parts.map((part) => part.optional)).toEqual([optional, optional, optional]);
  expect(plan.steps.at(-1)).toMatchObject({ run: ['rm', '-rf', 'node_modules'] });
  const broken = await planOf({ ...app, ...BUILT, ...OLD_LOCK });
  const says = expect.stringContaining('package-lock.json does not fit') as string;
  expect(broken.warnings).toEqual(optional === undefined ? [] : [says]);
  expect(broken.problems.map(({ message }) => message)).toEqual(optional === undefined ? [says] : []);
});

it('that the settings of Django name is needed', async () => {
  const files = { 'manage.py': "('DJANGO_SETTINGS_MODULE', 'shop.settings')", 'shop/wsgi.py': '' };
  const settings = "STATICFILES_DIRS = [BASE_DIR / 'node_modules']";
  const plan = await planOf({ 'requirements.txt': 'django', ...files, 'shop/settings.py': settings, ...BUILT });
  expect(plan.steps.map(({ optional }) => optional)).toEqual([undefined, undefined, undefined]);
});
