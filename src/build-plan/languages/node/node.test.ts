import { satisfies } from 'semver';
import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import type { BuildPlan } from '../../build-plan.ts';
import { planSource } from '../../plan-source.ts';
import { nodejs } from './node.ts';

async function plan(packageJson: object, files: Record<string, string> = {}): Promise<BuildPlan> {
  const all = { 'package.json': JSON.stringify(packageJson), 'server.js': '', ...files };
  const request = { app: 'shop', platform: 'nodejs', languages: [nodejs], files: sourceOf(all) };
  return (await planSource(request)).plan;
}

const stepsOf = ({ dependencies, steps }: BuildPlan): string[] =>
  [...dependencies.flatMap((set) => set.steps), ...steps].map(({ run }) => run.join(' '));
const EXPRESS = { dependencies: { express: '^5.0.0' } };

describe('packages', () => {
  it.each<[string, object, Record<string, string>, string[]]>([
    ['are not installed where there are none', {}, {}, []],
    ['of npm', EXPRESS, { 'package-lock.json': '{}' }, ['npm ci --omit=dev']],
    ['of npm without a lock file', EXPRESS, {}, ['npm install --omit=dev --no-package-lock']],
    [
      'for development are there for the build, and removed after it',
      { ...EXPRESS, devDependencies: { vite: '7' }, scripts: { build: 'vite build' } },
      { 'package-lock.json': '{}' },
      ['npm ci --include=dev', 'npm run build', 'npm prune --omit=dev --ignore-scripts'],
    ],
    [
      'for development are there for install scripts',
      { ...EXPRESS, devDependencies: { husky: '9' }, scripts: { prepare: 'husky' } },
      { 'package-lock.json': '{}' },
      ['npm ci --include=dev', 'npm prune --omit=dev --ignore-scripts'],
    ],
    [
      'for development are not installed without need',
      { ...EXPRESS, devDependencies: { jest: '30' } },
      {},
      ['npm install --omit=dev --no-package-lock'],
    ],
    [
      'heroku-postbuild is run in place of build',
      { scripts: { build: 'no', 'heroku-postbuild': 'yes' } },
      {},
      ['npm run heroku-postbuild'],
    ],
    ['of yarn', EXPRESS, { 'yarn.lock': '' }, ['yarn install --frozen-lockfile --non-interactive --production=true']],
    ['of a newer yarn', EXPRESS, { 'yarn.lock': '__metadata:\n  version: 8\n' }, ['yarn install --immutable']],
    [
      'of pnpm',
      EXPRESS,
      { 'pnpm-lock.yaml': "lockfileVersion: '9.0'\n" },
      ['pnpm install --frozen-lockfile --prod --store-dir {downloads}/pnpm --package-import-method copy'],
    ],
  ])('%s', async (_what, packageJson, files, steps) => {
    expect(stepsOf(await plan(packageJson, files))).toEqual(steps);
  });

  it('are kept by what decides them, and not where scripts or workspaces reach further', async () => {
    const [set] = (await plan({ ...EXPRESS, name: 'a' })).dependencies;
    expect(set).toMatchObject({ neverKept: null, keep: { kind: 'restored', directory: 'node_modules' } });
    expect((await plan({ ...EXPRESS, name: 'b', scripts: { test: 'x' } })).dependencies[0]?.key).toEqual(set?.key);
    expect((await plan({ dependencies: { express: '^4.0.0' } })).dependencies[0]?.key).not.toEqual(set?.key);
    const scripts = { postinstall: 'patch-package' };
    expect((await plan({ ...EXPRESS, scripts })).dependencies[0]?.neverKept).toContain('scripts.postinstall');
    expect((await plan({ ...EXPRESS, workspaces: ['a'] })).dependencies[0]?.neverKept).toContain('workspace');
  });

  it('are decided by the schema from which the client of Prisma is made', async () => {
    const [set] = (await plan({ ...EXPRESS, prisma: { schema: './db/main.prisma' } })).dependencies;
    expect(set?.key.files).toEqual(
      expect.arrayContaining(['schema.prisma', 'prisma/*.prisma', 'prisma/*/*.prisma', 'db/main.prisma']),
    );
  });

  it.each<[string, object, Record<string, string>, boolean]>([
    ['pnpm copies', { dependencies: { lib: 'file:./lib' } }, { 'pnpm-lock.yaml': '' }, false],
    ['yarn copies', { devDependencies: { lib: '../lib' }, scripts: { build: 'x' } }, { 'yarn.lock': '' }, false],
    ['bun copies', { optionalDependencies: { lib: 'file:lib' } }, { 'bun.lock': '' }, false],
    ['npm links', { dependencies: { lib: 'file:./lib' } }, { 'package-lock.json': '{}' }, true],
    ['pnpm links', { dependencies: { lib: 'link:./lib' } }, { 'pnpm-lock.yaml': '' }, true],
    ['yarn leaves out', { ...EXPRESS, devDependencies: { lib: '../lib' } }, { 'yarn.lock': '' }, true],
    ['pnpm locks', { dependencies: { lib: 'file:lib-1.0.tgz' } }, { 'pnpm-lock.yaml': '' }, true],
  ])('of the source that %s are kept or not: %j', async (_what, packageJson, lock, isKept) => {
    const [set] = (await plan(packageJson, lock)).dependencies;
    expect(set?.neverKept).toEqual(isKept ? null : 'lib in package.json is a directory of the source');
  });
});

describe('the package manager', () => {
  const PNPM = (version: string) => ({ 'pnpm-lock.yaml': `lockfileVersion: ${version}\n` });
  const YARN = (version: number) => ({ 'yarn.lock': `# comment\n\n__metadata:\n  version: ${version}\n` });

  it.each<[object, Record<string, string>, string, string]>([
    [{}, PNPM('5.3'), 'pnpm', '6.35.1'],
    [{}, PNPM('5.4'), 'pnpm', '7.33.7'],
    [{}, PNPM("'6.0'"), 'pnpm', '8.15.9'],
    [{}, PNPM("'9.0'"), 'pnpm', '10.4.0'],
    [{ packageManager: 'pnpm@9.1.2+sha512.abc' }, PNPM("'9.0'"), 'pnpm', '9.1.2'],
    [{}, YARN(5), 'yarn', '2.4.3'],
    [{}, YARN(6), 'yarn', '3.8.7'],
    [{}, YARN(8), 'yarn', '4.5.0'],
    [{ packageManager: 'yarn@4.1.0' }, YARN(8), 'yarn', '4.1.0'],
    [{ packageManager: 'yarn@1.22.22' }, { 'yarn.lock': '' }, 'yarn', '1.22.22'],
    [{ engines: { pnpm: '^9' } }, PNPM("'9.0'"), 'pnpm', '9.15.9'],
    [{ engines: { pnpm: '>=8' } }, PNPM("'6.0'"), 'pnpm', '8.15.9'],
    [{ engines: { pnpm: '8 || 9' } }, PNPM("'9.0'"), 'pnpm', '9.15.9'],
    [{ volta: { yarn: '1.22.19' } }, { 'yarn.lock': '' }, 'yarn', '1.22.19'],
    [{ engines: { yarn: '>=1.22 <5' } }, YARN(8), 'yarn', '4.5.0'],
    [{}, { ...PNPM("'9.0'"), '.tool-versions': 'nodejs 22.1.0\npnpm 9.1.0\n' }, 'pnpm', '9.1.0'],
    [{ devEngines: { packageManager: { name: 'pnpm', version: '^11' } } }, PNPM("'9.0'"), 'pnpm', '11.0.3'],
    [{ devEngines: { packageManager: [{ name: 'yarn', version: '1.22.19' }] } }, {}, 'yarn', '1.22.19'],
  ])('of %j with %j is %s %s', async (packageJson, files, program, version) => {
    const { tools } = await plan({ ...EXPRESS, ...packageJson }, files);
    const tool = tools.find((each) => each.program === program);
    expect(satisfies(version, tool?.wanted?.range ?? '')).toBe(true);
    expect(satisfies('999.0.0', tool?.wanted?.range ?? '')).toBe(false);
  });

  it('is none that the engines rule out, nor of another line than its lock file', async () => {
    const range = async (packageJson: object, files: Record<string, string>): Promise<string> =>
      (await plan({ ...EXPRESS, ...packageJson }, files)).tools.at(-1)?.wanted?.range ?? '';
    expect(satisfies('10.4.0', await range({ engines: { pnpm: '^9' } }, PNPM("'9.0'")))).toBe(false);
    expect(satisfies('10.4.0', await range({}, PNPM("'9.0'\n---")))).toBe(false);
    expect(satisfies('9.15.9', await range({ engines: { pnpm: '>=8' } }, PNPM("'6.0'")))).toBe(false);
    expect(satisfies('3.8.7', await range({ engines: { yarn: '>=1.22' } }, YARN(8)))).toBe(false);
  });

  it('is the one that is named when several lock files are there, which is said', async () => {
    const both = { 'package-lock.json': '{}', 'yarn.lock': '' };
    const first = await plan(EXPRESS, both);
    expect(first.notes).toEqual(['package-lock.json and yarn.lock are both there: npm is used; remove the others']);
    const named = await plan({ ...EXPRESS, packageManager: 'yarn@1.22.22' }, both);
    expect(stepsOf(named)[0]).toMatch(/^yarn install/);
  });
});

describe('an app that names other package managers in devEngines', () => {
  const manager = (packageManager: object) => ({
    dependencies: { next: '15' },
    scripts: { start: 'next start' },
    devEngines: { packageManager },
  });

  it.each<[string, object, Record<string, string>, string, string]>([
    ['pnpm', { name: 'pnpm' }, { 'pnpm-lock.yaml': '' }, 'pnpm exec next build', 'pnpm run start'],
    ['yarn', [{ name: 'yarn' }], { 'yarn.lock': '' }, 'yarn run next build', 'yarn run start'],
    [
      'npm, too',
      [{ name: 'pnpm' }, { name: 'npm' }],
      { 'pnpm-lock.yaml': '' },
      'npm exec --no -- next build',
      'npm start',
    ],
    ['pnpm, with a warning', { name: 'pnpm', onFail: 'warn' }, {}, 'npm exec --no -- next build', 'npm start'],
  ])('is built and started by %s', async (_name, named, files, build, start) => {
    const made = await plan(manager(named), files);
    expect(stepsOf(made)).toContain(build);
    expect(made.processes['web']?.command).toBe(start);
    const [program = ''] = start.split(' ');
    expect(made.tools.find((tool) => tool.program === program)?.runtime).toBe(true);
  });
});

describe('the version of Node', () => {
  const wanted = async (packageJson: object, files: Record<string, string>) => {
    const { tools, notes, problems } = await plan(packageJson, files);
    return { from: tools[0]?.wanted?.from ?? null, range: tools[0]?.wanted?.range ?? '', notes, problems };
  };

  it.each<[string | null, object, Record<string, string>, string]>([
    [null, {}, {}, ''],
    ['engines.node in package.json', { engines: { node: '>=20 <22' } }, {}, '21.0.0'],
    ['.nvmrc', {}, { '.nvmrc': 'v20.11.1\n' }, '20.11.1'],
    ['.nvmrc', {}, { '.nvmrc': 'lts/iron' }, '20.1.0'],
    [null, {}, { '.nvmrc': 'node' }, ''],
    ['.node-version', {}, { '.node-version': '22' }, '22.4.0'],
    ['.tool-versions', {}, { '.tool-versions': 'python 3.12\nnodejs 22.3.0\n' }, '22.3.0'],
    ['volta.node in package.json', { volta: { node: '20.10.0' } }, {}, '20.10.0'],
    ['.nvmrc', { engines: { node: '>=18' } }, { '.nvmrc': '20' }, '20.3.0'],
    ['engines.node in package.json', { engines: { node: '^22' } }, { '.nvmrc': '20' }, '22.3.0'],
  ])('comes from %s for %j with %j', async (from, packageJson, files, version) => {
    const found = await wanted(packageJson, files);
    expect(found.from).toBe(from);
    if (from !== null) expect(satisfies(version, found.range)).toBe(true);
  });

  it('that contradicts the engines, or is none, is said', async () => {
    expect((await wanted({ engines: { node: '^22' } }, { '.nvmrc': '20' })).notes).toEqual([
      '.nvmrc asks for Node 20, which engines.node in package.json (^22) rules out',
    ]);
    expect((await wanted({}, { '.nvmrc': 'iojs' })).notes[0]).toContain('no version of Node that is known');
    for (const node of ['newest', 7, `${'>=1 || '.repeat(100)}>=1`]) {
      expect((await wanted({ engines: { node } }, {})).problems).toMatchObject([{ cause: 'invalid_config' }]);
    }
  });
});

describe('what starts the app', () => {
  it.each<[object, Record<string, string>, string]>([
    [{ scripts: { start: 'node --enable-source-maps dist/main.js' } }, {}, 'node --enable-source-maps dist/main.js'],
    [{ scripts: { start: 'node a && node b' } }, {}, 'npm start'],
    [{ scripts: { start: 'node a', prestart: 'x' } }, {}, 'npm start'],
    [{ scripts: { 'start:prod': 'node dist/main' } }, {}, 'node dist/main'],
    [{}, {}, 'node server.js'],
    [{ scripts: { start: 'node a' } }, { Procfile: 'web: node b\n' }, 'node b'],
    [{ scripts: { dev: 'nodemon server.js', start: 'node a' } }, {}, 'node a'],
  ])('of %j with %j is %s', async (packageJson, files, command) => {
    expect((await plan(packageJson, files)).processes['web']?.command).toBe(command);
  });

  it('is what a script for development watches, where nothing else says so', async () => {
    const files = { 'package.json': '{"scripts":{"dev":"nodemon -L src/till.js"}}', 'src/till.js': '' };
    const request = { app: 'shop', platform: 'nodejs', languages: [nodejs], files: sourceOf(files) };
    expect((await planSource(request)).plan).toMatchObject({
      processes: { web: { command: 'node src/till.js', from: 'scripts.dev in package.json' } },
      notes: [expect.stringContaining('a "start" script')],
    });
  });

  it('is asked for where nothing says so', async () => {
    const request = { app: 'shop', platform: 'nodejs', languages: [nodejs], files: sourceOf({ 'package.json': '{}' }) };
    expect((await planSource(request)).plan.problems).toMatchObject([
      { cause: 'no_process', hint: expect.stringContaining('web: node server.js') as string },
    ]);
  });
});

it('package.json that cannot be read is named', async () => {
  const read = (text: string) => plan({}, { 'package.json': text });
  await expect(read('{')).rejects.toMatchObject({
    code: 'invalid_config',
    message: expect.stringMatching(/package.json/) as string,
  });
  await expect(read('[]')).rejects.toMatchObject({ code: 'invalid_config' });
  expect((await read('{"scripts":{"start":1,"__proto__":"x"},"dependencies":[]}')).processes['web']?.command).toBe(
    'node server.js',
  );
});
