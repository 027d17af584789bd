/** PHP, with Composer; served by nginx and php-fpm. */
import type { DependencySet, PlannedProcess, Step, Tool } from '../../build-plan.ts';
import { type AppDeclaration, firstSign, type Language, type PlanParts } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { frontEnd } from '../front-end.ts';
import { NETWORK_VARIABLES } from '../network-variables.ts';
import { type ComposerJson, readComposerJson } from './composer-json.ts';

const PAGES = ['public/index.php', 'web/index.php', 'webroot/index.php', 'index.php'];
const MINORS = ['8.5', '8.4', '8.3', '8.2', '8.1', '8.0', '7.4'];
const SERVER = '.tancho/php-server';
/** Programs that Procfiles of other platforms call. */
const OTHER_NAMES = ['heroku-php-apache2', 'heroku-php-nginx'];
const FROM_VENDOR = /^(?:\s*exec\s+)?vendor\/bin\/(heroku-php-(?:apache2|nginx))\b/;
const MAX_COMMAND = 1_000;

const PHP: Tool = {
  program: 'php',
  minimum: '7.4.0',
  runtime: true,
  install: {
    'apt-get': 'apt-get install -y php-cli',
    apk: 'apk add php php-pcntl php-posix php-phar php-openssl php-mbstring',
    dnf: 'dnf install -y php-cli php-process',
    brew: 'brew install php',
  },
  others: MINORS.map((minor) => `php${minor}`),
};
const FPM: Tool = {
  program: 'php-fpm',
  version: ['-v'],
  runtime: true,
  install: {
    'apt-get': 'apt-get install -y php-fpm',
    apk: 'apk add php-fpm',
    dnf: 'dnf install -y php-fpm',
    brew: 'brew install php',
  },
  others: MINORS.map((minor) => `php-fpm${minor}`),
};
const NGINX: Tool = {
  program: 'nginx',
  version: ['-v'],
  runtime: true,
  install: {
    'apt-get': 'apt-get install -y nginx-light',
    apk: 'apk add nginx',
    dnf: 'dnf install -y nginx-core',
    brew: 'brew install nginx',
  },
};
const COMPOSER: Tool = {
  program: 'composer',
  install: {
    'apt-get': 'apt-get install -y composer',
    apk: 'apk add composer',
    dnf: 'dnf install -y composer',
    brew: 'brew install composer',
  },
};

export const php: Language = {
  name: 'php',
  description: 'PHP, with Composer; served by nginx and php-fpm',
  example: `${SERVER} public`,
  signs: ['composer.json', ...PAGES],
  tools: [PHP, FPM, NGINX],
  inherit: [...NETWORK_VARIABLES, 'COMPOSER_REPO_PACKAGIST'],
  detect: (files) => firstSign(files, { manifest: ['composer.json'], program: PAGES }),
  plan,
};

async function plan(files: SourceFiles, asked: AppDeclaration): Promise<PlanParts> {
  const composer = await readComposerJson(files);
  const assets = await frontEnd(files, asked);
  const page = await files.find(...PAGES);
  const isLaravel = composer.packages.includes('laravel/framework');
  const tools = [phpTool(composer), FPM, NGINX, ...(composer.isThere ? [COMPOSER] : [])];
  return {
    title: `${frameworkOf(composer)}${composer.isThere ? ' with Composer' : ''}`,
    tools: [...tools, ...assets.tools],
    environment: [
      { name: 'COMPOSER_HOME', value: '{downloads}/composer-home', scope: 'build' },
      { name: 'COMPOSER_CACHE_DIR', value: '{downloads}/composer', scope: 'build' },
      { name: 'COMPOSER_ALLOW_SUPERUSER', value: '1', scope: 'build' },
      { name: 'COMPOSER_NO_INTERACTION', value: '1', scope: 'build' },
      ...(composer.packages.includes('symfony/framework-bundle') ? [{ name: 'APP_ENV', value: 'prod' }] : []),
      ...(isLaravel
        ? [
            { name: 'APP_ENV', value: 'production' },
            { name: 'LOG_CHANNEL', value: 'stderr', scope: 'run' as const },
          ]
        : []),
      ...assets.environment,
    ],
    files: ['php-server', ...OTHER_NAMES].map((name) => ({ from: 'php/server.php', to: `.tancho/${name}` })),
    dependencies: [...packages(composer, asked), ...assets.dependencies],
    steps: [...composerSteps(composer, asked), ...vendorServers(asked), ...assets.steps],
    processes: webOf(page),
    path: ['.tancho'],
    notes: [
      ...(composer.isThere && !composer.isLocked && composer.packages.length > 0
        ? [
            'There is no composer.lock: whenever packages are installed, the newest that fit are; commit the file to keep them',
          ]
        : []),
      ...((await files.exists(`${rootOf(page)}.htaccess`))
        ? ['.htaccess is not read: paths that are no files go to index.php']
        : []),
      ...assets.notes,
    ],
    warnings: isLaravel ? ['Laravel needs a key: tancho env set -p APP_KEY=$(php artisan key:generate --show)'] : [],
    problems: assets.problems,
  };
}

/** Extensions that a package of another name brings; those for databases are called as their package is, behind `pdo_`. */
const PACKAGE_OF: Readonly<Record<string, string>> = {
  ...{ dom: 'xml', simplexml: 'xml', xmlreader: 'xml', xmlwriter: 'xml', xsl: 'xml' },
  ...{ mysqli: 'mysql', pdo_sqlite: 'sqlite3', 'zend-opcache': 'opcache' },
};
/** What PHP itself calls them. */
const LOADED_AS: Readonly<Record<string, string>> = { 'zend-opcache': 'Zend OPcache' };

/** That it lacks an extension is known before anything is installed. */
function phpTool({ wanted, extensions }: ComposerJson): Tool {
  if (extensions.length === 0) return { ...PHP, wanted };
  const loaded = extensions.map((name) => LOADED_AS[name] ?? name);
  const has = `foreach (${JSON.stringify(loaded)} as $name) if (!extension_loaded($name)) exit(1);`;
  const install = Object.entries(PHP.install).map(([manager, command]) => {
    const names =
      manager === 'brew' ? [] : extensions.map((name) => `php-${PACKAGE_OF[name] ?? name.replace(/^pdo_/, '')}`);
    return [manager, [command, ...new Set(names)].join(' ')];
  });
  return { ...PHP, wanted, check: ['-r', has], install: Object.fromEntries(install) as Record<string, string> };
}

function frameworkOf({ packages }: ComposerJson): string {
  const known: readonly (readonly [string, string])[] = [
    ['laravel/framework', 'Laravel'],
    ['symfony/framework-bundle', 'Symfony'],
    ['slim/slim', 'Slim'],
    ['cakephp/cakephp', 'CakePHP'],
    ['laminas/laminas-mvc', 'Laminas'],
  ];
  return known.find(([name]) => packages.includes(name))?.[1] ?? 'PHP';
}

/** What is written of the app's own code comes after them, so that they can be kept. */
function packages({ isThere, packages: names }: ComposerJson, { keepsDevelopment }: AppDeclaration): DependencySet[] {
  if (!isThere || (names.length === 0 && !keepsDevelopment)) return [];
  const development = keepsDevelopment ? [] : ['--no-dev'];
  const run = [
    'composer',
    'install',
    ...development,
    '--prefer-dist',
    '--no-progress',
    '--no-scripts',
    '--no-autoloader',
  ];
  return [
    {
      name: 'Composer packages',
      keep: { kind: 'restored', directory: 'vendor' },
      key: { files: ['composer.json', 'composer.lock'] },
      steps: [{ name: 'composer install', run }],
    },
  ];
}

function composerSteps({ isThere, scripts }: ComposerJson, { keepsDevelopment }: AppDeclaration): Step[] {
  if (!isThere) return [];
  const development = keepsDevelopment ? [] : ['--no-dev'];
  const own = ['post-install-cmd', 'compile'].filter((name) => scripts.includes(name));
  return [
    { name: 'composer dump-autoload', run: ['composer', 'dump-autoload', ...development, '--optimize'] },
    ...own.map((name) => ({
      name: `composer run-script ${name}`,
      run: ['composer', 'run-script', ...development, name],
    })),
  ];
}

/** The package that brings these is one for development, and its servers are not here. */
function vendorServers({ processes }: AppDeclaration): Step[] {
  const called = Object.values(processes ?? {}).flatMap(
    (command) => FROM_VENDOR.exec(command.slice(0, MAX_COMMAND))?.[1] ?? [],
  );
  return [...new Set(called)].map((name) => ({
    name: `vendor/bin/${name}`,
    run: ['install', '-D', '-m', '755', `.tancho/${name}`, `vendor/bin/${name}`],
  }));
}

function rootOf(page: string | null): string {
  return page === null ? '' : page.slice(0, -'index.php'.length);
}

function webOf(page: string | null): Record<string, PlannedProcess> {
  if (page === null) return {};
  return { web: { command: `${SERVER} ${rootOf(page) === '' ? '.' : rootOf(page).slice(0, -1)}`, from: page } };
}
