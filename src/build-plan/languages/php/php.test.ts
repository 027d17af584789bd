import { satisfies } from 'semver';
import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import type { BuildPlan } from '../../build-plan.ts';
import { planSource } from '../../plan-source.ts';
import { php } from './php.ts';

async function plan(composer: object | null, files: Readonly<Record<string, string>> = {}): Promise<BuildPlan> {
  const all = { ...(composer !== null && { 'composer.json': JSON.stringify(composer) }), ...files };
  return (await planSource({ app: 'shop', platform: 'php', languages: [php], files: sourceOf(all) })).plan;
}

const stepsOf = ({ dependencies, steps }: BuildPlan): string[] =>
  [...dependencies.flatMap((set) => set.steps), ...steps].map(({ run }) => run.join(' '));

describe('the directory that is served', () => {
  it.each([
    [{ 'public/index.php': '', 'index.php': '' }, '.tancho/php-server public'],
    [{ 'web/index.php': '' }, '.tancho/php-server web'],
    [{ 'index.php': '' }, '.tancho/php-server .'],
  ])('of %j', async (files, command) => {
    expect((await plan(null, files)).processes['web']?.command).toBe(command);
  });

  it('is asked for where there is none', async () => {
    expect((await plan({})).problems).toMatchObject([{ cause: 'no_process' }]);
  });

  it('may be named as other platforms have it', async () => {
    const made = await plan({}, { Procfile: 'web: vendor/bin/heroku-php-apache2 web/\n' });
    expect(made.files.map(({ to }) => to)).toContain('.tancho/heroku-php-apache2');
    expect(made.path).toEqual(['.tancho']);
    expect(stepsOf(made)).toContain('install -D -m 755 .tancho/heroku-php-apache2 vendor/bin/heroku-php-apache2');
  });
});

it('packages are kept, and what is written of the code comes after them', async () => {
  const composer = { require: { php: '^8.2', 'slim/slim': '^4' }, scripts: { 'post-install-cmd': 'x', test: 'y' } };
  const made = await plan(composer, { 'composer.lock': '{}', 'public/index.php': '' });
  expect(made.title).toBe('Slim with Composer');
  expect(stepsOf(made)).toEqual([
    'composer install --no-dev --prefer-dist --no-progress --no-scripts --no-autoloader',
    'composer dump-autoload --no-dev --optimize',
    'composer run-script --no-dev post-install-cmd',
  ]);
  expect(made.notes).toEqual([]);
});

it('extensions that the code asks for are looked for before anything is installed', async () => {
  const made = await plan({ require: { 'ext-json': '*', 'ext-intl': '*', 'ext-dom': '*' } }, { 'index.php': '' });
  const [tool] = made.tools;
  expect(tool?.check?.[1]).toContain('["dom","intl"]');
  expect(tool?.install['apt-get']).toBe('apt-get install -y php-cli php-xml php-intl');
});

it('extensions are installed by the names of their packages, and looked for by their own', async () => {
  const require = { 'ext-libxml': '*', 'ext-xmlreader': '*', 'ext-zend-opcache': '*', 'ext-pdo_sqlite': '*' };
  const [tool] = (await plan({ require }, { 'index.php': '' })).tools;
  expect(tool?.check?.[1]).toContain('["pdo_sqlite","xmlreader","Zend OPcache"]');
  expect(tool?.install['apt-get']).toBe('apt-get install -y php-cli php-sqlite3 php-xml php-opcache');
});

it.each([
  ['>=8.1', '8.2.0', '8.0.0'],
  ['^7.4 || ^8.0', '8.2.0', '9.0.0'],
  ['~8.1.0|~8.2.0', '8.2.5', '8.3.0'],
  ['>=8.1 <8.4', '8.3.0', '8.4.0'],
])('PHP %s', async (text, fits, not) => {
  const wanted = (await plan({ require: { php: text } }, { 'index.php': '' })).tools[0]?.wanted;
  expect([satisfies(fits, wanted?.range ?? ''), satisfies(not, wanted?.range ?? '')]).toEqual([true, false]);
});

it("Laravel's front end is built, and its packages go", async () => {
  const made = await plan(
    { require: { 'laravel/framework': '^12' } },
    { 'public/index.php': '', 'package.json': '{"scripts":{"build":"vite build"},"devDependencies":{"vite":"7"}}' },
  );
  expect(stepsOf(made).slice(-3)).toEqual([
    'npm run build',
    'npm prune --omit=dev --ignore-scripts',
    'rm -rf node_modules',
  ]);
  expect(made.tools.find(({ program }) => program === 'node')?.runtime).toBe(false);
});
