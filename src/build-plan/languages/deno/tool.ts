/** Deno itself, which the npm registry brings. */
import type { Tool } from '../../build-plan.ts';

export const DENO: Tool = {
  program: 'deno',
  minimum: '1.40.0',
  runtime: true,
  install: { npm: 'npm install -g deno', brew: 'brew install deno' },
  download: {
    otherwise: '2',
    available: ['npm', 'view', 'deno', 'versions', '--json'],
    // The package brings the binary with a script, which newer npm runs only when allowed by name.
    files: { 'package.json': '{"private":true,"allowScripts":{"deno":true}}' },
    install: [
      ...['npm', 'install', '--prefix', '{directory}', '--no-package-lock', '--no-audit', '--no-fund'],
      ...['--ignore-scripts=false', 'deno@{version}'],
    ],
    bin: 'node_modules/.bin',
  },
};
