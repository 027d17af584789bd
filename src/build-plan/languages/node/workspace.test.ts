import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import type { BuildPlan } from '../../build-plan.ts';
import { isPartOfSource } from '../../part-of-source.ts';
import { planSource } from '../../plan-source.ts';
import { nodejs } from './node.ts';

type Packages = Readonly<Record<string, object>>;

function source(packages: Packages, files: Readonly<Record<string, string>> = {}) {
  const manifests = Object.entries(packages).map(([directory, content]) => [
    directory === '' ? 'package.json' : `${directory}/package.json`,
    JSON.stringify(content),
  ]);
  return sourceOf({ ...(Object.fromEntries(manifests) as Record<string, string>), ...files });
}

async function plan(packages: Packages, files = {}, directory = ''): Promise<BuildPlan> {
  const request = { app: 'shop', platform: 'nodejs', languages: [nodejs], files: source(packages, files), directory };
  return (await planSource(request)).plan;
}

const stepsOf = ({ dependencies, steps }: BuildPlan): string[] =>
  [...dependencies.flatMap((set) => set.steps), ...steps].map(
    ({ run, directory }) => `${directory === undefined ? '' : `${directory}: `}${run.join(' ')}`,
  );

const ROOT = { private: true, workspaces: ['apps/*', 'packages/*'] };
const WEB = { name: 'web', scripts: { build: 'tsc', start: 'node dist/main.js' }, dependencies: { ui: '*' } };
const UI = { name: 'ui', main: 'index.js', scripts: { build: 'tsc' }, devDependencies: { icons: '*' } };
const OF_WEB = ' --workspace apps/web --include-workspace-root';
const ICONS = { name: 'icons', scripts: { build: 'make' } };

describe('a workspace', () => {
  it('is the one package of it that starts, built after what it is made of', async () => {
    const made = await plan({ '': ROOT, 'apps/web': WEB, 'packages/ui': UI, 'packages/icons': ICONS });
    expect(made.processes).toEqual({
      web: { command: 'cd apps/web && node dist/main.js', from: 'scripts.start in apps/web/package.json' },
    });
    expect(made.title).toBe('Node.js with npm, the package apps/web');
    expect(made.notes).toEqual(['The app is apps/web: the only package of the workspace that starts']);
    expect(stepsOf(made)).toEqual([
      'npm install --include=dev --no-package-lock --workspace apps/web --include-workspace-root',
      'packages/icons: npm run build',
      'packages/ui: npm run build',
      'apps/web: npm run build',
    ]);
  });

  it('of several that start asks which, and is the one that is set as the root', async () => {
    const packages = { '': ROOT, 'apps/web': WEB, 'apps/admin': { ...WEB, name: 'admin' } };
    expect((await plan(packages)).problems).toMatchObject([
      {
        cause: 'no_process',
        message: expect.stringContaining('apps/admin, apps/web') as string,
        hint: 'Name it and push again: tancho app update shop --root apps/admin   (or apps/web). Where it is none of these, say how it starts, in a file named Procfile: web: npm run <script>',
      },
    ]);
    expect(await isPartOfSource([nodejs], source(packages), 'apps/web')).toBe(true);
    expect(await isPartOfSource([nodejs], source(packages), 'docs')).toBe(false);
    expect((await plan(packages, {}, 'apps/web')).processes['web']?.command).toBe('cd apps/web && node dist/main.js');
  });

  it.each([
    ['turbo', { 'turbo.json': '{}' }, OF_WEB, 'npm exec --no -- turbo run build --filter=web'],
    ['nx', { 'nx.json': '{}' }, '', 'npm exec --no -- nx run-many -t build -p web'],
  ])('with %s is built by it', async (program, files, part, step) => {
    const root = { ...ROOT, devDependencies: { [program]: '2' }, scripts: { start: `${program} run start` } };
    const made = await plan({ '': root, 'apps/web': WEB, 'packages/ui': UI }, files);
    expect(stepsOf(made)).toEqual([`npm install --include=dev --no-package-lock${part}`, step]);
    expect(made.processes['web']?.command).toBe('cd apps/web && node dist/main.js');
  });

  const ADMIN = { ...WEB, name: 'admin' };
  const LOCK_9 = { 'pnpm-lock.yaml': "lockfileVersion: '9.0'\n" };
  const YARN_4 = { 'yarn.lock': '__metadata:\n  version: 8\n' };
  const PNPM_9 =
    'pnpm install --frozen-lockfile --prod=false --store-dir {downloads}/pnpm --package-import-method copy';
  it.each<[string, object, Record<string, string>, string]>([
    ['npm', {}, { 'package-lock.json': '{}' }, `npm ci --include=dev${OF_WEB}`],
    ['pnpm', {}, LOCK_9, `${PNPM_9} --filter . --filter {./apps/web}...`],
    [
      'pnpm without a lock file',
      { packageManager: 'pnpm@10.2.0' },
      {},
      `${PNPM_9.replace('--frozen', '--no-frozen')} --config.shared-workspace-lockfile=false --filter . --filter {./apps/web}...`,
    ],
    ['yarn 4', { name: 'all' }, YARN_4, 'yarn workspaces focus all web'],
    ['an old pnpm, all', {}, { 'pnpm-lock.yaml': 'lockfileVersion: 5.3\n' }, PNPM_9],
    ['yarn 4 without a name for its top, all', {}, YARN_4, 'yarn install --immutable'],
    ['yarn 1, all', {}, { 'yarn.lock': '' }, 'yarn install --frozen-lockfile --non-interactive --production=false'],
    ['bun, all', {}, { 'bun.lock': '{}' }, 'bun install --frozen-lockfile'],
    [
      'turbo where a task is that of another package, all',
      {},
      { 'package-lock.json': '{}', 'turbo.json': '{ "tasks": { "build": { "dependsOn": ["admin#build"] } } }' },
      'npm ci --include=dev',
    ],
  ])('installs what its part needs, by %s', async (_, top, files, step) => {
    const packages = { '': { ...ROOT, ...top }, 'apps/web': WEB, 'apps/admin': ADMIN, 'packages/ui': UI };
    const made = await plan(packages, files, 'apps/web');
    expect(stepsOf(made)[0]).toBe(step);
    expect(made.dependencies[0]?.steps[0]?.name.includes('for apps/web')).toBe(!_.endsWith('all'));
  });

  it('installs all by yarn where two packages have the name of the part', async () => {
    const packages = { '': { ...ROOT, name: 'all' }, 'apps/web': WEB, 'apps/admin': WEB };
    expect(stepsOf(await plan(packages, YARN_4, 'apps/web'))[0]).toBe('yarn install --immutable');
  });

  it('of pnpm is read from its own file; a site in it is served from where it is built', async () => {
    const site = { name: 'site', devDependencies: { vite: '7' } };
    const files = { 'pnpm-workspace.yaml': "packages:\n  - 'apps/**'\n  - '!apps/old'\n", 'apps/site/index.html': '' };
    const made = await plan({ '': {}, 'apps/site': site, 'apps/old': WEB }, files);
    expect(made.site?.roots).toEqual(['apps/site/dist', 'apps/site/build']);
    expect(stepsOf(made)).toContain('apps/site: npm exec --no -- vite build');
    expect(made.processes['web']?.command).toMatch(/^node .*\.tancho\/server\.mjs$/);
  });

  it('programs of packages are found wherever they lie', async () => {
    const made = await plan({ '': ROOT, 'apps/web': { dependencies: { next: '15' } } });
    expect(made.processes['web']?.command).toBe('cd apps/web && next start');
    expect(made.path).toEqual(['apps/web/node_modules/.bin', 'node_modules/.bin']);
  });

  it('files and settings of a part are those of its directory', async () => {
    const files = {
      'apps/web/Procfile': 'release: migrate\nweb: serve\n',
      'apps/web/tancho.yaml': 'static: { root: out }',
    };
    const request = { app: 'shop', platform: 'auto', languages: [nodejs], directory: 'apps/web' };
    const { plan: made, appFiles } = await planSource({
      ...request,
      files: source({ '': ROOT, 'apps/web': WEB }, files),
    });
    expect(made.processes).toEqual({ web: { command: 'cd apps/web && serve', from: 'Procfile' } });
    expect([appFiles.release, appFiles.config.options]).toEqual([
      ['cd apps/web && migrate'],
      { STATIC_ROOT: 'apps/web/out' },
    ]);
  });

  it('that starts at its top is started there', async () => {
    const root = { ...ROOT, scripts: { start: 'node server.js', build: 'make all' }, devDependencies: { x: '1' } };
    const made = await plan({ '': root, 'apps/web': WEB });
    expect(made.processes['web']?.command).toBe('node server.js');
    expect(stepsOf(made)).toEqual(['npm install --include=dev --no-package-lock', 'npm run build']);
  });
});

describe('Next.js that brings its own server', () => {
  it('gets the files that browsers load, and is started in place of next start', async () => {
    const next = { dependencies: { next: '16' }, scripts: { build: 'next build', start: 'next start -p 3000' } };
    const made = await plan(
      { '': next },
      { 'next.config.ts': "export default { output: 'standalone' };", 'public/a': '' },
    );
    expect(made.processes['web']).toEqual({ command: 'node .next/standalone/server.js', from: 'Next.js' });
    expect(stepsOf(made).slice(1)).toEqual([
      'npm run build',
      'cp -R .next/static .next/standalone/.next/',
      'cp -R public .next/standalone/',
    ]);
  });
});

describe('bun', () => {
  it('installs, builds and runs what has its lock file', async () => {
    const made = await plan(
      { '': { dependencies: { hono: '4' }, scripts: { build: 'x', start: 'bun src/a.ts' } } },
      { 'bun.lock': '' },
    );
    expect(stepsOf(made)).toEqual(['bun install --frozen-lockfile --production', 'bun run build']);
    expect(made.processes['web']?.command).toBe('bun run start');
    expect(made.tools.find(({ program }) => program === 'bun')).toMatchObject({
      runtime: true,
      download: { otherwise: '1' },
    });
  });

  it.each<[string, string[], string]>([
    ['1.4.15', ['bun install --production'], ''],
    ['1.4.0', [], 'asks for elysia 1.4.15, and latest is locked'],
  ])('goes on by a lock for other ranges where its version fits: %s', async (version, steps, problem) => {
    const lock = [
      ...['{', '  "workspaces": {', '    "": {', '      "dependencies": {', '        "elysia": "latest",', '      },'],
      ...['    },', '  },', '  "packages": {', `    "elysia": ["elysia@${version}", "", {}, "sha512-x"],`, '  }', '}'],
    ].join('\n');
    const app = { dependencies: { elysia: '1.4.15' }, scripts: { start: 'bun x.ts' } };
    const made = await plan({ '': app }, { 'bun.lock': lock });
    expect(made.problems.map(({ message }) => message).join()).toContain(problem);
    expect(made.problems.length).toBe(problem === '' ? 0 : 1);
    if (problem !== '') return;
    expect(stepsOf(made)).toEqual(steps);
    expect(made.notes.join()).toContain('bun.lock was written for another package.json');
  });

  it.each<[string, object, Record<string, string>]>([
    ['package.json asks for @types/bun', { devDependencies: { '@types/bun': 'latest' } }, {}],
    ['package.json asks for bun-types', { devDependencies: { 'bun-types': 'latest' } }, {}],
    ['there is bunfig.toml', {}, { 'bunfig.toml': '' }],
    ['scripts.dev in package.json calls it', { scripts: { dev: 'bun run --watch src/index.ts' } }, {}],
  ])('is taken without a lock file where %s', async (why, content, files) => {
    const made = await plan(
      { '': { dependencies: { elysia: 'latest' }, ...content } },
      { 'src/index.ts': '', ...files },
    );
    expect(made.notes).toContain(`There is no lock file; bun is used, for ${why}`);
    expect([stepsOf(made), made.processes['web']?.command]).toEqual([['bun install --production'], 'bun src/index.ts']);
  });

  it('is not taken where another one is named, and starts nothing that says otherwise', async () => {
    const types = { devDependencies: { '@types/bun': '1' }, scripts: { start: 'node a.js' } };
    const named = await plan({ '': { ...types, packageManager: 'npm@11.0.0' } }, {});
    expect(named.tools.map(({ program }) => program)).toEqual(['node', 'npm']);
    const started = await plan({ '': types }, {});
    expect(started.processes['web']?.command).toBe('node a.js');
  });

  it('starts a program in TypeScript', async () => {
    const made = await plan({ '': { packageManager: 'bun@1.2.3' } }, { 'index.ts': '' });
    expect(made.processes['web']?.command).toBe('bun index.ts');
    expect(made.tools.at(-1)?.wanted?.text).toBe('1.2.3');
  });
});

it("yarn's Plug'n'Play is kept where the source says so", async () => {
  const app = { dependencies: { express: '5' }, scripts: { start: 'node server.js' } };
  const lock = '__metadata:\n  version: 8\n\n"express@npm:5":\n';
  const pnp = await plan({ '': app }, { 'yarn.lock': lock, '.yarnrc.yml': 'nodeLinker: pnp\n' });
  expect(pnp.processes['web']?.command).toBe('yarn run start');
  expect(pnp.environment).toContainEqual({ name: 'YARN_NODE_LINKER', value: 'pnp', scope: 'build' });
  expect(pnp.dependencies[0]?.neverKept).toContain('outside of node_modules');
  expect((await plan({ '': app }, { 'yarn.lock': lock })).processes['web']?.command).toBe('node server.js');
});

it.each<[string, string]>([
  [
    'pnpm-lock.yaml',
    "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      express:\n        specifier: ^4.0.0\n        version: 4.21.0\n\npackages:\n",
  ],
  ['yarn.lock', '__metadata:\n  version: 8\n\n"express@npm:^4.0.0":\n  version: 4.21.0\n'],
  [
    'bun.lock',
    '{\n  "lockfileVersion": 1,\n  "workspaces": {\n    "": {\n      "dependencies": {\n        "express": "^4.0.0",\n      },\n    },\n  },\n}\n',
  ],
])('%s that does not fit is reported before anything is installed', async (lock, text) => {
  const wants = (range: string) =>
    plan({ '': { dependencies: { express: range }, scripts: { start: 'x' } } }, { [lock]: text });
  expect((await wants('^4.0.0')).problems).toEqual([]);
  expect((await wants('^5.0.0')).problems).toMatchObject([
    { cause: 'invalid_config', message: expect.stringContaining(`${lock} does not fit package.json`) as string },
  ]);
});
