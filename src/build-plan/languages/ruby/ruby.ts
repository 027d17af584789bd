/** Ruby, with Bundler: Rails, Sinatra and whatever else speaks Rack. */
import type { DependencySet, NewVariable, PlannedProcess, Step, Tool, Variable } from '../../build-plan.ts';
import { type AppDeclaration, firstSign, type Language, type PlanParts } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { frontEnd } from '../front-end.ts';
import { NETWORK_VARIABLES } from '../network-variables.ts';
import { type Gemfile, readGemfile } from './gemfile.ts';
import { jekyll } from './jekyll.ts';

const MINORS = ['4.0', '3.4', '3.3', '3.2', '3.1', '3.0', '2.7'];
const INSTALL = {
  'apt-get': 'apt-get install -y ruby-full ruby-bundler build-essential',
  apk: 'apk add ruby-full ruby-dev build-base',
  dnf: 'dnf install -y ruby ruby-devel rubygem-bundler gcc make',
  brew: 'brew install ruby',
};
const RUBY: Tool = {
  program: 'ruby',
  minimum: '2.7.0',
  runtime: true,
  install: INSTALL,
  others: MINORS.map((minor) => `ruby${minor}`),
};
const BUNDLE: Tool = { program: 'bundle', runtime: true, install: INSTALL };
const PUMA: Tool = {
  program: 'puma',
  runtime: true,
  install: {
    'apt-get': 'apt-get install -y puma',
    apk: 'apk add ruby-puma',
    dnf: 'gem install puma',
    brew: 'gem install puma',
  },
};
const PROGRAMS = ['app.rb', 'main.rb', 'server.rb', 'web.rb'];
const GEMS = 'vendor/bundle';

export const ruby: Language = {
  name: 'ruby',
  description: 'Ruby, with Bundler: Rails, Sinatra, Rack, Jekyll',
  example: 'bundle exec puma -b tcp://0.0.0.0:$PORT',
  signs: ['Gemfile', 'config.ru'],
  starts: /\bruby\s+(?:-\S+\s+)*([\w./-]+\.rb)\b/,
  tools: [RUBY, BUNDLE],
  inherit: [...NETWORK_VARIABLES, 'BUNDLE_MIRROR__ALL', 'BUNDLE_SSL_CA_CERT'],
  detect: (files) => firstSign(files, { manifest: ['Gemfile'], program: ['config.ru'] }),
  plan,
};

async function plan(files: SourceFiles, asked: AppDeclaration): Promise<PlanParts> {
  const gemfile = await readGemfile(files);
  const isRails =
    (await gemfile.has('rails')) || ((await gemfile.has('railties')) && (await files.exists('config/application.rb')));
  const assets = await frontEnd(files, asked);
  const removal = assets.steps.slice(-1);
  const pages = isRails ? null : await jekyll(files, gemfile, asked);
  const start = pages === null ? await webOf(files, gemfile, isRails) : null;
  const isSinatra = await gemfile.has('sinatra');
  const title = isRails ? 'Rails' : pages !== null ? 'Jekyll' : isSinatra ? 'Sinatra' : 'Ruby';
  const lacksKey =
    isRails && (await files.exists('config/credentials.yml.enc')) && !(await files.exists('config/master.key'));
  return {
    title: gemfile.isThere ? `${title} with Bundler` : title,
    tools: [
      { ...RUBY, wanted: gemfile.wanted },
      ...(gemfile.isThere ? [BUNDLE] : asked.processes === null ? [PUMA] : []),
      ...assets.tools,
      ...(pages?.tools ?? []),
    ],
    environment: [...variables(gemfile, isRails, asked), ...assets.environment, ...(pages?.environment ?? [])],
    ...(pages !== null && { files: pages.files, site: pages.site }),
    dependencies: [...gems(gemfile), ...assets.dependencies],
    steps: [
      ...assets.steps.slice(0, -1),
      ...(isRails && (await files.exists('app/assets')) ? [precompile(await gemfile.has('pg'))] : []),
      ...(isRails ? [{ name: 'directories that Rails writes to', run: ['mkdir', '-p', 'tmp/pids', 'log'] }] : []),
      ...(pages?.steps ?? []),
      ...removal,
    ],
    processes: start === null ? (pages?.processes ?? {}) : { web: start },
    newVariables: isRails ? [SECRET] : [],
    notes: [
      ...(gemfile.isThere && !gemfile.isLocked
        ? [
            'There is no Gemfile.lock: whenever gems are installed, the newest that fit are; commit the file to keep them',
          ]
        : []),
      ...assets.notes,
    ],
    warnings: lacksKey
      ? [
          'config/credentials.yml.enc needs the key that is in config/master.key: tancho env set -p RAILS_MASTER_KEY=...',
        ]
      : [],
    problems: assets.problems,
  };
}

const SECRET: NewVariable = { name: 'SECRET_KEY_BASE', value: { generated: 'hex' }, from: 'Rails', when: 'missing' };

function variables({ isThere, isLocked }: Gemfile, isRails: boolean, { keepsDevelopment }: AppDeclaration): Variable[] {
  return [
    { name: 'RACK_ENV', value: 'production' },
    { name: 'MALLOC_ARENA_MAX', value: '2', scope: 'run' },
    ...(isRails
      ? [
          { name: 'RAILS_ENV', value: 'production' },
          { name: 'RAILS_SERVE_STATIC_FILES', value: '1', scope: 'run' as const },
          { name: 'RAILS_LOG_TO_STDOUT', value: '1', scope: 'run' as const },
        ]
      : []),
    ...(isThere
      ? [
          { name: 'BUNDLE_PATH', value: GEMS },
          ...(keepsDevelopment ? [] : [{ name: 'BUNDLE_WITHOUT', value: 'development:test' }]),
          ...(isLocked ? [{ name: 'BUNDLE_FROZEN', value: '1' }] : []),
          { name: 'BUNDLE_USER_CACHE', value: '{downloads}/bundle', scope: 'build' as const },
          { name: 'BUNDLE_JOBS', value: '4', scope: 'build' as const },
          { name: 'BUNDLE_RETRY', value: '2', scope: 'build' as const },
        ]
      : []),
  ];
}

function gems({ isThere, hasOwnGems }: Gemfile): DependencySet[] {
  if (!isThere) return [];
  return [
    {
      name: 'gems',
      keep: { kind: 'restored', directory: GEMS },
      neverKept: hasOwnGems ? 'Gemfile names gems of the source itself' : null,
      key: { files: ['Gemfile', 'Gemfile.lock', '.ruby-version'] },
      steps: [{ name: 'bundle install', run: ['bundle', 'install'] }],
    },
  ];
}

/** It starts the app without wanting to reach anything. */
function precompile(isPostgres: boolean): Step {
  return {
    name: 'rake assets:precompile',
    run: ['bundle', 'exec', 'rake', 'assets:precompile'],
    env: {
      SECRET_KEY_BASE: 'of-the-build-only',
      SECRET_KEY_BASE_DUMMY: '1',
      ...(isPostgres ? { DATABASE_URL: 'postgresql://nobody@127.0.0.1/none' } : {}),
    },
  };
}

async function webOf(files: SourceFiles, gemfile: Gemfile, isRails: boolean): Promise<PlannedProcess | null> {
  const runner = gemfile.isThere ? 'bundle exec ' : '';
  const rack = await files.find('config.ru');
  if (rack !== null && ((await gemfile.has('puma')) || !gemfile.isThere)) {
    if (await files.exists('config/puma.rb'))
      return { command: `${runner}puma -C config/puma.rb`, from: 'config/puma.rb' };
    return { command: `${runner}puma -b tcp://0.0.0.0:$PORT config.ru`, from: rack };
  }
  if (isRails) return { command: `${runner}rails server -b 0.0.0.0 -p $PORT`, from: 'Rails' };
  if (rack !== null) return { command: `${runner}rackup --host 0.0.0.0 --port $PORT config.ru`, from: rack };
  for (const program of PROGRAMS) {
    const classic = await files.findLine(program, /^\s*require\s*\(?\s*["']sinatra["']/);
    if (classic !== null)
      return { command: `${runner}ruby ${program} -o 0.0.0.0 -p $PORT`, from: `${program} line ${classic.line}` };
  }
  return null;
}
