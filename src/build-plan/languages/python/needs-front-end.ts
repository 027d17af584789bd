/** Whether a Python app itself names the front end beside it: then it is broken without. */
import type { SourceFiles } from '../../source/source-files.ts';
import type { DjangoProject } from './django.ts';
import type { Required } from './required.ts';

/** Packages that read what a bundler made. */
const READERS = [
  'django-vite',
  'django-webpack-loader',
  'django-manifest-loader',
  'django-vite-plugin',
  'flask-vite',
  'flask-webpackext',
  'inertia-django',
  'fastapi-inertia',
  'flask-inertia',
];

export async function needsFrontEnd(
  files: SourceFiles,
  required: Required,
  django: DjangoProject | null,
): Promise<boolean> {
  if (required.first(...READERS) !== null) return true;
  for (const file of django?.settings ?? []) {
    if (await files.hasLine(file, /^[^#]*\b(?:node_modules|webpack|vite)\b/i)) return true;
  }
  return false;
}
