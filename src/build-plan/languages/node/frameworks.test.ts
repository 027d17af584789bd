import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import type { BuildPlan } from '../../build-plan.ts';
import { planSource } from '../../plan-source.ts';
import { nodejs } from './node.ts';

type Files = Record<string, string>;

async function plan(packageJson: object, files: Files = {}): Promise<BuildPlan> {
  const all = { 'package.json': JSON.stringify(packageJson, null, 2), ...files };
  const request = { app: 'shop', platform: 'nodejs', languages: [nodejs], files: sourceOf(all) };
  return (await planSource(request)).plan;
}

const wants = (name: string, more: object = {}) => ({ dependencies: { [name]: '*' }, ...more });
const scripts = (start: string) => ({ scripts: { build: 'make', start } });
const called = (start: string, more: object) => ({ scripts: { build: 'make', start, ...more } });

describe('a framework that serves', () => {
  it.each<[string, object, Files, string]>([
    ['Next.js', wants('next'), {}, './node_modules/.bin/next start'],
    ['Next.js', wants('next', scripts('next dev')), {}, './node_modules/.bin/next start'],
    ['Next.js', wants('next', scripts('next start')), {}, 'npm start'],
    [
      'Next.js',
      wants('next', scripts('next start')),
      { 'next.config.mjs': "export default { ...(process.env.PAGES && { output: 'export' }) }" },
      'npm start',
    ],
    ['Nuxt', wants('nuxt'), {}, 'node .output/server/index.mjs'],
    ['Nuxt', { dependencies: { nuxt: '^2.15.0' } }, {}, './node_modules/.bin/nuxt start'],
    ['Nest', wants('@nestjs/core'), { 'dist/main.js': '' }, 'node dist/main'],
    [
      'SvelteKit',
      { dependencies: { '@sveltejs/kit': '2', vite: '7' } },
      { 'svelte.config.js': "import a from '@sveltejs/adapter-node';" },
      'node build',
    ],
    ['Remix', wants('@remix-run/serve'), {}, './node_modules/.bin/remix-serve ./build/index.js'],
    [
      'React Router',
      wants('@react-router/serve'),
      {},
      './node_modules/.bin/react-router-serve ./build/server/index.js',
    ],
    ['Astro', { dependencies: { astro: '5', '@astrojs/node': '9' } }, {}, 'node ./dist/server/entry.mjs'],
  ])('%s is started where nothing else is said: %j', async (name, packageJson, files, command) => {
    const made = await plan(packageJson, files);
    expect([made.title, made.processes['web']?.command]).toEqual([`${name} with npm`, command]);
    expect([made.site, made.problems]).toEqual([null, []]);
  });

  it('AdonisJS is started in the directory that its build makes, with a key that it does not start without', async () => {
    const app = { dependencies: { '@adonisjs/core': '6', vite: '6' } };
    const made = await plan({ ...app, scripts: { build: 'node ace build', start: 'node bin/server.js' } });
    expect(made.title).toBe('AdonisJS with npm');
    expect(made.processes['web']).toEqual({ command: 'node build/bin/server.js', from: 'AdonisJS' });
    expect(made.environment).toContainEqual({ name: 'HOST', value: '0.0.0.0', scope: 'run' });
    expect(made.newVariables.map(({ name, value }) => [name, value])).toEqual([['APP_KEY', { generated: 'hex' }]]);
    const own = await plan({ ...app, scripts: { start: 'cd build && node bin/server.js' } });
    expect(own.processes['web']?.command).toBe('npm start');
  });

  it('is built by its own program where there is no build script', async () => {
    expect((await plan(wants('next'))).steps.map(({ run }) => run.join(' '))).toEqual(['npm exec --no -- next build']);
    expect((await plan(wants('next', scripts('x')))).steps.map(({ name }) => name)).toEqual(['npm run build']);
    expect((await plan(wants('@nestjs/core'))).steps).toEqual([]);
  });

  it('that would make nothing to run here says what to change', async () => {
    const files = { 'svelte.config.js': "// config\nimport adapter from '@sveltejs/adapter-auto';\n" };
    expect((await plan(wants('@sveltejs/kit'), files)).problems).toMatchObject([
      {
        cause: 'no_process',
        message: expect.stringMatching(/^svelte.config.js line 2 builds for a platform that is found/) as string,
        hint: expect.stringContaining('npm install -D @sveltejs/adapter-node') as string,
      },
    ]);
  });

  it.each([
    ['^1.30.0', '@1"'],
    ['^2.5.0', '@5"'],
    ['^3.0.0', '"'],
  ])('names the adapter that fits SvelteKit %s', async (range, version) => {
    const files = { 'package.json': JSON.stringify({ devDependencies: { '@sveltejs/kit': range } }) };
    const [problem] = (await plan({}, files)).problems;
    expect(problem?.hint).toContain(`npm install -D @sveltejs/adapter-node${version}, import`);
  });
});

describe('a framework that makes files', () => {
  it.each<[string, object, Files, string[], string | null]>([
    ['Vite', wants('vite', scripts('vite')), {}, ['dist', 'build'], 'index.html'],
    ['Vite', wants('vite', called('npm run dev', { dev: 'vite' })), {}, ['dist', 'build'], 'index.html'],
    ['Gatsby', wants('gatsby', called('yarn develop', { develop: 'gatsby develop' })), {}, ['public'], null],
    [
      'Create React App',
      wants('react-scripts', scripts('export PORT=1 && react-scripts --openssl-legacy-provider start')),
      {},
      ['build'],
      'index.html',
    ],
    ['Vite', wants('vite'), { 'vite.config.ts': "build: {\n  outDir: './public',\n}" }, ['public'], 'index.html'],
    ['Create React App', wants('react-scripts', scripts('react-scripts start')), {}, ['build'], 'index.html'],
    ['Next.js', wants('next'), { 'next.config.mjs': "export default { output: 'export' }" }, ['out'], null],
    [
      'Next.js',
      wants('next', scripts('next start')),
      { 'next.config.ts': "const c = {\n  output: 'export',\n}" },
      ['out'],
      null,
    ],
    ['Parcel', wants('parcel', scripts('parcel index.html')), {}, ['dist'], 'index.html'],
    ['Docusaurus', wants('@docusaurus/core', scripts('docusaurus start')), {}, ['build'], null],
    ['Astro', wants('astro', scripts('astro dev')), {}, ['dist'], null],
    [
      'SvelteKit',
      { dependencies: { '@sveltejs/kit': '2', vite: '7' } },
      { 'svelte.config.js': "import a from '@sveltejs/adapter-static';\nadapter({ fallback: '200.html' })" },
      ['build'],
      '200.html',
    ],
    [
      'Eleventy',
      wants('@11ty/eleventy'),
      { 'eleventy.config.js': "a.add('src/a.css'); return { dir: { output: './out/' } }" },
      ['out'],
      null,
    ],
    [
      'VitePress',
      wants('vitepress'),
      { 'web/.vitepress/config.ts': '' },
      ['web/.vitepress/dist', '.vitepress/dist', 'docs/.vitepress/dist'],
      null,
    ],
    [
      'VuePress',
      wants('vuepress', scripts('vuepress dev guide')),
      { 'guide/.vuepress/config.js': '' },
      ['guide/.vuepress/dist', '.vuepress/dist', 'docs/.vuepress/dist'],
      null,
    ],
    ['Hexo', wants('hexo', scripts('hexo s')), {}, ['public'], null],
    ['Ember', wants('ember-cli', scripts('ember serve')), {}, ['dist'], 'index.html'],
    ['Create React App', wants('react-scripts', scripts('craco start')), {}, ['build'], 'index.html'],
    ['Rsbuild', wants('@rsbuild/core', scripts('rsbuild preview')), {}, ['dist'], 'index.html'],
    [
      'Angular',
      wants('@angular/cli', scripts('ng serve')),
      { 'angular.json': '{"projects":{"web":{},"x":{"architect":{"build":{"options":{"outputPath":"out/x"}}}}}}' },
      ['dist/web/browser', 'dist/web', 'out/x/browser', 'out/x', 'dist'],
      'index.html',
    ],
  ])('%s is served as a site: %j', async (name, packageJson, files, roots, fallback) => {
    const made = await plan(packageJson, files);
    expect(made).toMatchObject({ title: `${name} with npm`, site: { roots }, problems: [] });
    expect(made.processes['web']?.command).toContain('.tancho/server.mjs');
    expect(made.environment.find((each) => each.name === 'STATIC_FALLBACK')?.value ?? null).toBe(fallback);
    expect(made.steps).toHaveLength(1);
  });

  it('is no site where its development server is started with something else', async () => {
    const more = { dev: 'vite', api: 'node api.js' };
    for (const start of ['npm run api & npm run dev', 'npm run api', 'concurrently "npm run api" "npm run dev"']) {
      expect((await plan(wants('vite', called(start, more)))).processes['web']?.command).toBe('npm start');
    }
  });

  it('is no site where a program of its own serves it', async () => {
    const served = [
      await plan(wants('vite', scripts('node server.js'))),
      await plan(wants('vite', { scripts: { build: 'x' } }), { 'server.js': '' }),
      await plan(wants('vite', scripts('vite')), { Procfile: 'web: node x.js\n' }),
    ];
    for (const { site, processes } of served) {
      expect([site, processes['web']?.command]).toEqual([null, expect.stringMatching(/^node \w+\.js$/)]);
    }
  });

  it('is not known of a bundler that says nowhere what it makes: its development server runs, and that is said', async () => {
    const { processes, notes } = await plan(wants('webpack', scripts('webpack serve')));
    expect([processes['web']?.command, notes]).toEqual([
      'npm start',
      ['scripts.start in package.json runs a development server (webpack serve), which is not for an app in use'],
    ]);
  });

  it('is looked for in the directory that tancho.yaml names', async () => {
    const files = { 'tancho.yaml': 'static: { root: out, fallback: app.html }' };
    const made = await plan(wants('rollup', { scripts: { build: 'rollup -c' } }), files);
    expect([made.site, made.processes['web']?.command]).toEqual([null, expect.stringContaining('server.mjs')]);
  });
});

describe('what is made for a server', () => {
  const auto = (range: string): object => ({
    devDependencies: { '@sveltejs/kit': '2', '@sveltejs/adapter-auto': range, vite: '7' },
    scripts: { build: 'vite build' },
  });
  const CONFIG = { 'svelte.config.js': "import adapter from '@sveltejs/adapter-auto';\n" };

  it('by adapter-auto of SvelteKit is asked to be for Node, unless it is too old for that', async () => {
    const made = await plan(auto('^6.0.0'), CONFIG);
    expect([made.processes['web']?.command, made.problems]).toEqual(['node build', []]);
    expect(made.environment).toContainEqual({ name: 'GCP_BUILDPACKS', value: 'true', scope: 'build' });
    const { problems } = await plan(auto('~3.1.0'), CONFIG);
    expect(problems).toMatchObject([
      { message: expect.stringMatching(/^svelte.config.js line 1 builds for/) as string },
    ]);
  });

  it.each([{}, { scripts: { start: 'node build' } }])(
    'by adapter-node of SvelteKit is told how its visitors came: %j',
    async (more) => {
      const kit = { devDependencies: { '@sveltejs/kit': '2', '@sveltejs/adapter-node': '5', vite: '7' }, ...more };
      const { environment, processes } = await plan(kit);
      expect(processes['web']?.command).toBe('node build');
      expect(environment).toContainEqual({ name: 'PROTOCOL_HEADER', value: 'x-forwarded-proto', scope: 'run' });
    },
  );

  it('by VitePress lies where its settings are', async () => {
    const made = await plan(wants('vitepress'), { 'docs/.vitepress/config.mts': '' });
    expect(made.steps.map(({ run }) => run.slice(-3))).toEqual([['vitepress', 'build', 'docs']]);
  });

  it.each<[object, string]>([
    [
      { executor: '@nx/esbuild:esbuild', options: { outputPath: 'dist/api', main: 'src/main.ts' } },
      'node dist/api/main.js',
    ],
    [{ executor: '@nx/vite:build', options: { outputPath: 'dist/web', main: 'src/main.ts' } }, 'npm start'],
    [{ executor: '@nx/js:tsc', options: { outputPath: '../x', main: 'src/main.ts' } }, 'npm start'],
  ])('by Nx is run in place of its development server: %j', async (build, command) => {
    const files = { 'nx.json': '{}', 'project.json': JSON.stringify({ targets: { build } }) };
    const made = await plan(
      { devDependencies: { nx: '17' }, scripts: { start: 'nx serve', build: 'nx build' } },
      files,
    );
    expect(made.processes['web']?.command).toBe(command);
  });

  const workspace = (...apps: string[]): Files =>
    Object.fromEntries(['nx.json', ...apps.map((app) => `apps/${app}/project.json`)].map((path) => [path, '{}']));
  const OF_NX = { devDependencies: { nx: '21', vite: '7', '@nestjs/core': '11' } };
  const commands = ({ steps }: BuildPlan): string[] => steps.map(({ run }) => run.join(' '));

  it('by the only app of a workspace of Nx is served, or started, from where that puts it', async () => {
    const vite = { devDependencies: { nx: '21', vite: '7' }, scripts: { start: 'nx serve' } };
    const pages = await plan(vite, workspace('shop', 'shop-e2e'));
    expect(commands(pages)).toContain('npm exec --no -- nx build shop');
    expect(pages.site?.roots).toEqual(['dist/apps/shop/browser', 'dist/apps/shop', 'apps/shop/dist']);
    const options = { outputPath: 'dist/apps/api', main: 'apps/api/src/main.ts' };
    const project = JSON.stringify({ name: 'api', targets: { build: { executor: '@nx/webpack:webpack', options } } });
    const program = await plan(OF_NX, { ...workspace(), 'apps/api/project.json': project });
    expect(commands(program)).toContain('npm exec --no -- nx build api');
    expect(program.processes['web']?.command).toBe('node dist/apps/api/main.js');
  });

  it.each([
    ['@nx/webpack:webpack', { index: 'apps/shop/src/index.html' }],
    ['@nx/rspack:rspack', { target: 'web' }],
  ])('by the only app of a workspace of Nx is served where %s makes it for browsers: %j', async (executor, more) => {
    const options = { outputPath: 'dist/apps/shop', main: 'apps/shop/src/main.tsx', ...more };
    const project = JSON.stringify({ targets: { build: { executor, options } } });
    const files = { 'nx.json': '{}', 'apps/shop/project.json': project };
    const pages = await plan({ devDependencies: { nx: '21', vite: '7' } }, files);
    expect(pages.site?.roots).toContain('dist/apps/shop');
    const [problem] = (await plan({ devDependencies: { nx: '21' } }, files)).problems;
    expect(problem?.hint).toContain('static: { root: dist/apps/shop }');
  });

  it('of a workspace of Nx may have comments in its settings, and commas too many', async () => {
    const project = `{ // of the API
      "name": "api", "targets": { "build": { "executor": "@nx/js:tsc",
      "options": { "outputPath": "dist/apps/api", "main": "apps/api/src/main.ts", }, } } }`;
    const made = await plan(OF_NX, { 'nx.json': '{}', 'apps/api/project.json': project });
    expect(made.processes['web']?.command).toBe('node dist/apps/api/main.js');
  });

  it('in a workspace of Nx is asked for where there are several apps, or nothing says how the one is started', async () => {
    for (const [apps, named] of [
      [['api', 'web'], 'apps/api, apps/web'],
      [['api'], 'apps/api'],
    ] as const) {
      const [problem] = (await plan(OF_NX, workspace(...apps))).problems;
      expect(problem?.message).toContain(`The workspace of Nx has ${named}, and nothing says`);
      expect(problem?.hint).toContain('"build": "nx build api" and "start": "node dist/apps/api/main.js"');
    }
    const own = { ...OF_NX, scripts: { build: 'nx build api', start: 'node dist/apps/api/main.js' } };
    const made = await plan(own, workspace('api', 'web'));
    expect([made.problems, made.processes['web']?.command]).toEqual([[], 'node dist/apps/api/main.js']);
    expect(commands(made)).toContain('npm run build');
  });
});

describe('development packages', () => {
  const dev = { typescript: '5', tsx: '4', '@nestjs/cli': '11', 'ts-node': '10', vite: '7' };
  const made = (start: string, more: object = {}, files: Files = {}) =>
    plan({ devDependencies: dev, dependencies: { a: '1' }, scripts: { build: 'tsc', start, ...more } }, files);
  const pruned = ({ steps }: BuildPlan): boolean => steps.some(({ name }) => name.includes('prune'));

  it.each<[string, object]>([
    ['tsx src/main.ts', {}],
    ['nest start', {}],
    ['node -r ts-node/register main.ts', {}],
    ['node --import=tsx main.ts', {}],
    ['npm run serve', { serve: 'tsx main.ts' }],
    ['node dist/main.js', { prestart: 'tsc' }],
    ['./node_modules/.bin/tsx main.ts', {}],
    ['npm run build && node server.js', { build: 'node scripts/build.js' }],
  ])('that "%s" needs are not removed: %j', async (start, more) => {
    const found = await made(start, more);
    expect([pruned(found), found.notes[0]]).toEqual([false, expect.stringMatching(/^Development packages stay: /)]);
  });

  it('that nothing needs are removed', async () => {
    for (const start of ['node dist/main.js', 'node build', 'npm run unknown', 'node typescriptish.js'])
      expect(pruned(await made(start)), start).toBe(true);
    expect(pruned(await made('nest start', { 'start:prod': 'node dist/main' }))).toBe(true);
  });

  it('that the Procfile needs are not removed', async () => {
    const found = await made('node x', {}, { Procfile: 'web: node x\nworker: npx tsx worker.ts\n' });
    expect([pruned(found), found.notes[0]]).toEqual([false, expect.stringContaining('"npx tsx worker.ts" runs tsx')]);
  });
});

describe('a lock file', () => {
  const APP = { dependencies: { express: '^5.0.0' }, scripts: { start: 'node x' } };
  const npm = (version: string | null) => ({
    'package-lock.json': JSON.stringify({
      packages: version === null ? { '': {} } : { 'node_modules/express': { version } },
    }),
  });
  const problems = async (packageJson: object, files: Files) =>
    (await plan(packageJson, { 'x.js': '', ...files })).problems;

  it.each<[string, object, Files]>([
    ['npm', APP, npm('5.1.0')],
    ['npm with overrides', { ...APP, overrides: { express: '4' } }, npm('4.0.0')],
    ['npm, a package of git', { ...APP, dependencies: { express: 'github:expressjs/express' } }, npm(null)],
    ['yarn', APP, { 'yarn.lock': '# yarn\n\nexpress@^5.0.0:\n  version "5.1.0"\n' }],
    ['yarn, several ranges', APP, { 'yarn.lock': '"express@>=4", express@^5.0.0:\n  version "5.1.0"\n' }],
  ])('of %s that fits is no problem', async (_what, packageJson, files) => {
    expect(await problems(packageJson, files)).toEqual([]);
  });

  it.each<[string, Files, string]>([
    ['npm', npm('4.18.2'), '4.18.2 is locked'],
    ['npm', npm(null), 'it is not locked'],
    ['yarn', { 'yarn.lock': 'express@^4.0.0:\n  version "4.1.0"\n' }, 'it is not locked'],
  ])('of %s that does not fit is reported before anything is installed: %j', async (program, files, has) => {
    const [lock] = Object.keys(files);
    expect(await problems(APP, files)).toEqual([
      {
        cause: 'invalid_config',
        message: `${lock} does not fit package.json: package.json line 3 asks for express ^5.0.0, and ${has}.`,
        hint: `Run "${program} install" in the app, commit ${lock} and push again.`,
      },
    ]);
  });

  it('that cannot be read is named', async () => {
    await expect(plan(APP, { 'package-lock.json': '<<<<<<< HEAD' })).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringMatching(/^package-lock.json is not valid JSON/) as string,
    });
  });
});
