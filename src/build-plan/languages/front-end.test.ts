import { expect, it } from 'vitest';
import { sourceOf } from '../../../test/support/memory-source.ts';
import { AUTO_PLATFORM } from '../../domain/platforms/platform.ts';
import { planSource } from '../plan-source.ts';
import { LANGUAGES } from './built-in.ts';

it('of a Django project is built before its static files are collected, and needs no Node where it runs', async () => {
  const files = sourceOf({
    'requirements.txt': 'django',
    'manage.py': "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')",
    'shop/settings.py': 'STATIC_ROOT = "static"',
    'shop/wsgi.py': '',
    'package.json': '{"scripts":{"build":"vite build"},"devDependencies":{"vite":"^7"}}',
  });
  const { plan } = await planSource({ app: 'shop', platform: AUTO_PLATFORM, languages: LANGUAGES, files });
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
