import { satisfies } from 'semver';
import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import type { BuildPlan } from '../../build-plan.ts';
import { planSource } from '../../plan-source.ts';
import { ruby } from './ruby.ts';

async function plan(gems: readonly string[] | null, files: Readonly<Record<string, string>> = {}): Promise<BuildPlan> {
  const gemfile = gems === null ? {} : { Gemfile: gems.map((name) => `gem "${name}"\n`).join('') };
  const all = { ...gemfile, ...files };
  return (await planSource({ app: 'shop', platform: 'ruby', languages: [ruby], files: sourceOf(all) })).plan;
}

const stepsOf = ({ dependencies, steps }: BuildPlan): string[] =>
  [...dependencies.flatMap((set) => set.steps), ...steps].map(({ run }) => run.join(' '));

describe('what starts the app', () => {
  it.each<[string[] | null, Record<string, string>, string]>([
    [['puma'], { 'config.ru': '' }, 'bundle exec puma -b tcp://0.0.0.0:$PORT config.ru'],
    [['rails', 'puma'], { 'config.ru': '', 'config/puma.rb': '' }, 'bundle exec puma -C config/puma.rb'],
    [['rails'], { 'config.ru': '' }, 'bundle exec rails server -b 0.0.0.0 -p $PORT'],
    [['rackup'], { 'config.ru': '' }, 'bundle exec rackup --host 0.0.0.0 --port $PORT config.ru'],
    [['sinatra'], { 'app.rb': "require 'sinatra'\n" }, 'bundle exec ruby app.rb -o 0.0.0.0 -p $PORT'],
    [null, { 'config.ru': '' }, 'puma -b tcp://0.0.0.0:$PORT config.ru'],
  ])('of %j with %j', async (gems, files, command) => {
    expect((await plan(gems, files)).processes['web']?.command).toBe(command);
  });

  it('is asked for where nothing says so', async () => {
    expect((await plan(['sequel'])).problems).toMatchObject([{ cause: 'no_process' }]);
  });
});

describe('Jekyll', () => {
  it.each<[string[], string, string]>([
    [['jekyll'], 'title: x\n', '_site'],
    [['github-pages'], 'destination: ./public\n', 'public'],
    [['jekyll'], 'destination: ../public\n', '_site'],
  ])('of %j builds pages, which are served: %j', async (gems, settings, root) => {
    const made = await plan(gems, { '_config.yml': settings, 'index.md': '' });
    expect(made.title).toBe('Jekyll with Bundler');
    expect(stepsOf(made)).toEqual(['bundle install', 'bundle exec jekyll build']);
    expect(made.site?.roots).toEqual([root]);
    expect(made.processes['web']?.command).toMatch(/^node .*\.tancho\/server\.mjs$/);
    expect(made.tools.map(({ program }) => program)).toEqual(['ruby', 'bundle', 'node']);
    expect(made.problems).toEqual([]);
  });

  it('is no site where something else answers, or is said to', async () => {
    const files = { '_config.yml': '', 'config.ru': '' };
    expect((await plan(['jekyll', 'puma'], files)).processes['web']?.command).toContain('puma');
    expect((await plan(['jekyll'], { '_config.yml': '', Procfile: 'web: serve\n' })).site).toBeNull();
    expect((await plan(['sequel'], { '_config.yml': '' })).site).toBeNull();
  });
});

it('Rails gets its assets, its directories and a secret that stays', async () => {
  const files = { 'config.ru': '', 'app/assets/a.css': '', 'Gemfile.lock': '    pg (1.5)\n' };
  const made = await plan(['rails', 'puma'], files);
  expect(stepsOf(made)).toEqual(['bundle install', 'bundle exec rake assets:precompile', 'mkdir -p tmp/pids log']);
  expect(made.steps[0]?.env).toHaveProperty('DATABASE_URL');
  expect(made.newVariables).toEqual([
    { name: 'SECRET_KEY_BASE', value: { generated: 'hex' }, from: 'Rails', when: 'missing' },
  ]);
  expect(made.environment).toContainEqual({ name: 'RAILS_SERVE_STATIC_FILES', value: '1', scope: 'run' });
  expect(made.warnings).toEqual([]);
  expect((await plan(['rails'], { ...files, 'config/credentials.yml.enc': '' })).warnings[0]).toContain(
    'RAILS_MASTER_KEY',
  );
});

it('a front end is built before the assets are, and its packages go after them', async () => {
  const json = '{"scripts":{"build":"esbuild"},"dependencies":{"esbuild":"1"}}';
  const made = await plan(['rails'], { 'config.ru': '', 'app/assets/a.css': '', 'package.json': json });
  const steps = stepsOf(made);
  expect(steps.indexOf('npm run build')).toBeLessThan(steps.indexOf('bundle exec rake assets:precompile'));
  expect(steps.at(-1)).toBe('rm -rf node_modules');
});

it('gems are those of the lock file, and kept unless they lie in the source', async () => {
  const made = await plan(['puma'], { 'config.ru': '', 'Gemfile.lock': '' });
  expect(made.environment).toContainEqual({ name: 'BUNDLE_FROZEN', value: '1' });
  expect(made.dependencies[0]?.neverKept).toBe(null);
  const own = await plan(null, { Gemfile: 'gem "till", path: "till"\n', 'config.ru': '' });
  expect(own.dependencies[0]?.neverKept).toContain('of the source itself');
});

it.each<[Record<string, string>, string, string, string]>([
  [{ Gemfile: 'ruby "3.2.1"' }, 'Gemfile line 1', '3.2.1', '3.2.2'],
  [{ Gemfile: 'ruby "~> 3.1.0"' }, 'Gemfile line 1', '3.1.4', '3.2.0'],
  [{ Gemfile: 'ruby ">= 3.0", "< 3.3"' }, 'Gemfile line 1', '3.2.0', '3.3.0'],
  [{ Gemfile: '', '.ruby-version': 'ruby-3.1.4' }, '.ruby-version', '3.1.2', '3.2.0'],
  [{ Gemfile: '', '.tool-versions': 'ruby 3.3.0' }, '.tool-versions', '3.3.9', '3.4.0'],
])('the version that %j asks for', async (files, from, fits, not) => {
  const wanted = (await plan(null, { 'config.ru': '', ...files })).tools[0]?.wanted;
  expect(wanted?.from).toBe(from);
  expect([satisfies(fits, wanted?.range ?? ''), satisfies(not, wanted?.range ?? '')]).toEqual([true, false]);
});
