/** Apps for Node and Bun, each with the shape of one framework, lock file, layout or trap. */
import { type CorpusApp, json } from './corpus-app.ts';

const SITE = 'node --max-old-space-size=32 --max-semi-space-size=1 .tancho/server.mjs';
const npm = (name: string, version = '*', more: object = {}): Record<string, string> => ({
  'package.json': json({ dependencies: { [name]: version }, ...more }),
});
const dev = (name: string, more: object = {}): Record<string, string> => ({
  'package.json': json({ devDependencies: { [name]: '*' }, ...more }),
});

export const NODE_APPS: Readonly<Record<string, CorpusApp>> = {
  'a plain server': { files: { 'server.js': '' }, web: 'node server.js', title: 'Node.js' },
  'index.js without package.json': { files: { 'index.js': '' }, web: 'node index.js' },
  'Express as its generator makes it': {
    files: { ...npm('express', '~4', { scripts: { start: 'node ./bin/www' } }), 'bin/www': '', 'app.js': '' },
    web: 'node ./bin/www',
    steps: ['npm install --omit=dev --no-package-lock'],
  },
  'Express with environment variables in its start': {
    files: npm('express', '5', { scripts: { start: 'NODE_ENV=production node app.js' } }),
    web: 'npm start',
  },
  'main in package.json': {
    files: { 'package.json': json({ main: 'src/app' }), 'src/app.js': '' },
    web: 'node src/app.js',
  },
  'TypeScript that is compiled': {
    files: {
      'package.json': json({
        scripts: { build: 'tsc', start: 'node dist/index.js' },
        devDependencies: { typescript: '5' },
      }),
      'package-lock.json': json({ packages: { 'node_modules/typescript': { version: '5.9.2' } } }),
    },
    web: 'node dist/index.js',
    steps: ['npm ci --include=dev', 'npm run build', 'npm prune --omit=dev --ignore-scripts'],
  },
  'TypeScript that is run by a development package': {
    files: dev('tsx', { scripts: { start: 'tsx src/index.ts' } }),
    web: 'npm start',
    says: 'Development packages stay: "npm start" runs tsx, from the development package tsx',
  },
  'a start that is a development server, of Vite': {
    files: { ...dev('vite', { scripts: { start: 'vite', build: 'vite build' } }), 'index.html': '' },
    web: SITE,
    says: 'runs a development server',
  },
  'Create React App': {
    files: npm('react-scripts', '5', { scripts: { start: 'react-scripts start', build: 'react-scripts build' } }),
    web: SITE,
    roots: ['build'],
  },
  'Vue CLI': {
    files: npm('@vue/cli-service', '5', { scripts: { serve: 'x', build: 'vue-cli-service build' } }),
    web: SITE,
    roots: ['dist'],
  },
  'Vite with a directory of its own': {
    files: {
      ...dev('vite', { scripts: { build: 'vite build' } }),
      'vite.config.ts': "export default { build: { outDir: 'public_html' } }",
    },
    web: SITE,
    roots: ['public_html'],
  },
  Angular: {
    files: {
      ...dev('@angular/cli', { scripts: { start: 'ng serve', build: 'ng build' } }),
      'angular.json': json({ projects: { till: {} } }),
    },
    web: SITE,
    roots: ['dist/till/browser', 'dist/till', 'dist'],
  },
  Docusaurus: {
    files: npm('@docusaurus/core', '3', { scripts: { start: 'docusaurus start', build: 'docusaurus build' } }),
    web: SITE,
    roots: ['build'],
  },
  Gatsby: {
    files: npm('gatsby', '5', { scripts: { start: 'gatsby develop', build: 'gatsby build' } }),
    web: SITE,
    roots: ['public'],
  },
  'Astro, static': {
    files: npm('astro', '5', { scripts: { start: 'astro dev', build: 'astro build' } }),
    web: SITE,
    roots: ['dist'],
  },
  'Astro with a server': {
    files: { 'package.json': json({ dependencies: { astro: '5', '@astrojs/node': '9' } }) },
    web: 'node ./dist/server/entry.mjs',
  },
  VitePress: {
    files: dev('vitepress', { scripts: { build: 'vitepress build docs' } }),
    web: SITE,
    roots: ['.vitepress/dist', 'docs/.vitepress/dist'],
  },
  Eleventy: {
    files: dev('@11ty/eleventy'),
    web: SITE,
    roots: ['_site'],
    steps: ['npm install --include=dev --no-package-lock', 'npm exec --no -- eleventy'],
  },
  'Eleventy, whose start is for development': {
    files: dev('@11ty/eleventy', {
      scripts: { build: 'npx @11ty/eleventy', start: 'npx @11ty/eleventy --serve --quiet' },
    }),
    web: SITE,
    roots: ['_site'],
    says: 'runs a development server',
  },
  'Next.js': {
    files: npm('next', '15', { scripts: { dev: 'next dev', build: 'next build', start: 'next start' } }),
    web: 'npm start',
  },
  'Next.js without scripts': { files: npm('next', '15'), web: './node_modules/.bin/next start' },
  'Next.js, exported': {
    files: { ...npm('next', '15'), 'next.config.mjs': "export default { output: 'export' }" },
    web: SITE,
    roots: ['out'],
  },
  'Next.js, standalone': {
    files: { ...npm('next', '15'), 'next.config.js': "module.exports = { output: 'standalone' }" },
    web: 'node .next/standalone/server.js',
  },
  Nuxt: { files: npm('nuxt', '^3', { scripts: { build: 'nuxt build' } }), web: 'node .output/server/index.mjs' },
  'Nuxt, generated': {
    files: npm('nuxt', '^3', { scripts: { build: 'nuxt generate' } }),
    web: SITE,
    roots: ['.output/public', 'dist'],
  },
  'Nest as its program makes it': {
    files: npm('@nestjs/core', '11', {
      scripts: { build: 'nest build', start: 'nest start', 'start:prod': 'node dist/main' },
    }),
    web: 'node dist/main',
  },
  Remix: {
    files: { 'package.json': json({ dependencies: { '@remix-run/serve': '2', vite: '5' } }) },
    web: './node_modules/.bin/remix-serve ./build/server/index.js',
  },
  'React Router with a server': {
    files: npm('@react-router/serve', '7', { scripts: { start: 'react-router-serve ./build/server/index.js' } }),
    web: 'npm start',
  },
  'React Router in the browser': { files: npm('@react-router/dev', '7'), web: SITE, roots: ['build/client'] },
  'SvelteKit for Node': {
    files: {
      'package.json': json({ devDependencies: { '@sveltejs/kit': '2', vite: '7' } }),
      'svelte.config.js': "import a from '@sveltejs/adapter-node';",
    },
    web: 'node build',
  },
  'SvelteKit for another platform': {
    files: { ...dev('@sveltejs/kit'), 'vite.config.ts': "import a from '@sveltejs/adapter-vercel';" },
    problem: /vite.config.ts line 1 builds for another platform \(adapter-vercel\)/,
  },
  SolidStart: {
    files: npm('@solidjs/start', '1', { scripts: { start: 'vinxi start', build: 'vinxi build' } }),
    web: 'npm start',
  },
  'pnpm, locked': {
    files: {
      ...npm('express', '^5.0.0'),
      'server.js': '',
      'pnpm-lock.yaml':
        "lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n      express:\n        specifier: ^5.0.0\n",
    },
    web: 'node server.js',
    steps: ['pnpm install --frozen-lockfile --prod --store-dir {downloads}/pnpm --package-import-method copy'],
  },
  'pnpm, whose lock file is old': {
    files: {
      ...npm('express', '^5.0.0'),
      'server.js': '',
      'pnpm-lock.yaml':
        "lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n      koa:\n        specifier: ^2.0.0\n",
    },
    problem:
      /pnpm-lock.yaml does not fit package.json: package.json line \d+ asks for express \^5.0.0, and it is not locked/,
  },
  'pnpm 12, which writes down before it what it is itself installed with': {
    files: {
      ...npm('express', '^5.0.0', { packageManager: 'pnpm@12.21.0' }),
      'server.js': '',
      'pnpm-lock.yaml':
        "---\nlockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    packageManagerDependencies:\n      pnpm:\n        specifier: 12.21.0\n        version: 12.21.0\n\n---\nlockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      express:\n        specifier: ^5.0.0\n        version: 5.1.0\n",
    },
    web: 'node server.js',
  },
  'pnpm with overrides of its own': {
    files: {
      ...npm('express', '^5.0.0'),
      'server.js': '',
      'pnpm-workspace.yaml': 'overrides:\n  express: 5.1.0\n',
      'pnpm-lock.yaml':
        "lockfileVersion: '9.0'\n\noverrides:\n  express: 5.1.0\n\nimporters:\n\n  .:\n    dependencies:\n      express:\n        specifier: 5.1.0\n        version: 5.1.0\n",
    },
    web: 'node server.js',
  },
  'devEngines with pnpm, for which npm starts nothing': {
    files: {
      ...npm('vite', '7', {
        devEngines: { packageManager: { name: 'pnpm', version: '^12.0.0', onFail: 'download' } },
        scripts: { start: 'NODE_ENV=production node server.js' },
      }),
      'index.html': '',
      'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
    },
    web: 'pnpm run start',
    lastStep: /^pnpm exec vite build$|^pnpm install/,
  },
  'npm, whose lock file is old': {
    files: {
      ...npm('express', '^5.0.0'),
      'server.js': '',
      'package-lock.json': json({ packages: { 'node_modules/express': { version: '4.21.0' } } }),
    },
    problem: /package-lock.json does not fit .* and 4.21.0 is locked/,
  },
  'yarn 1': {
    files: { ...npm('express', '^5.0.0'), 'server.js': '', 'yarn.lock': 'express@^5.0.0:\n  version "5.0.0"\n' },
    web: 'node server.js',
  },
  'yarn 4': {
    files: {
      ...npm('express', '^5.0.0'),
      'server.js': '',
      'yarn.lock': '__metadata:\n  version: 8\n\n"express@npm:^5.0.0":\n',
    },
    web: 'node server.js',
    steps: ['yarn install --immutable'],
  },
  'Bun with a lock file': {
    files: { 'package.json': json({ scripts: { start: 'bun src/index.ts' } }), 'bun.lock': '{}', 'src/index.ts': '' },
    web: 'bun run start',
  },
  'engines that are no range': {
    files: { 'package.json': json({ engines: { node: 'newest' } }), 'server.js': '' },
    problem: /engines.node is "newest"/,
  },
  'a package.json that is none': { files: { 'package.json': '{ "name": }' }, throws: /package.json is not valid JSON/ },
  'nothing that starts': { files: npm('lodash'), problem: /says nowhere how it is started/ },
  'a workspace with one app': {
    files: {
      'package.json': json({ workspaces: ['packages/*'] }),
      'packages/api/package.json': json({ name: 'api', scripts: { start: 'node .' } }),
      'packages/lib/package.json': json({ name: 'lib', main: 'index.js' }),
    },
    web: 'cd packages/api && node .',
  },
  'a workspace with two apps': {
    files: {
      'package.json': json({ workspaces: ['*'] }),
      'api/package.json': json({ scripts: { start: 'node .' } }),
      'web/package.json': json({ scripts: { start: 'node .' } }),
    },
    problem: /several packages that start.*api, web/,
  },
};
