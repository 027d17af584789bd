/** Small apps in PHP and Ruby, and of two package managers for Node, are really built, and answer with their true page. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { builderWorld } from '../support/builder-world.ts';
import { startProcess } from '../support/running-process.ts';
import { treeOf } from '../support/source-trees.ts';

const PATIENCE_MS = 10 * 60_000;
const ANSWER_MS = 120_000;

interface App {
  /** What the machine needs for it: program and arguments that must succeed. */
  readonly needs: readonly (readonly string[])[];
  readonly files: Readonly<Record<string, string>>;
  /** Path -> what its page is, or begins with. */
  readonly pages: Readonly<Record<string, string>>;
}

const APPS: Readonly<Record<string, App>> = {
  'PHP with Composer and a class of its own': {
    needs: [
      ['composer', '--version'],
      ['nginx', '-v'],
      ['/usr/sbin/php-fpm8.2', '-v'],
    ],
    files: {
      'composer.json': '{"require":{"php":">=8.0"},"autoload":{"psr-4":{"Shop\\\\":"src/"}}}',
      'src/Till.php': '<?php\nnamespace Shop;\nclass Till { function name() { return "till"; } }\n',
      'public/index.php':
        '<?php\nrequire __DIR__ . "/../vendor/autoload.php";\necho (new Shop\\Till)->name(), " ", $_SERVER["REQUEST_URI"];\n',
      'public/site.css': 'h1 {}',
      'public/.secret': 'hidden',
      Procfile: 'web: vendor/bin/heroku-php-apache2 public/\n',
    },
    pages: { '/orders/7?a=b': 'till /orders/7?a=b', '/site.css': 'h1 {}', '/.secret': '<html>' },
  },
  'Ruby that speaks Rack': {
    needs: [['puma', '--version']],
    files: {
      'config.ru': "run ->(env) { [200, { 'content-type' => 'text/plain' }, ['from Rack ' + env['PATH_INFO']]] }\n",
    },
    pages: { '/a': 'from Rack /a' },
  },
  'a workspace of pnpm, whose app needs a package that is built': {
    needs: [['npm', 'view', 'pnpm', 'version']],
    files: {
      'package.json': '{"private":true,"packageManager":"pnpm@10.4.0"}',
      'pnpm-workspace.yaml': 'packages:\n  - apps/*\n  - packages/*\n',
      'apps/web/package.json':
        '{"name":"web","scripts":{"start":"node server.js"},"dependencies":{"greet":"workspace:*"}}',
      'apps/web/server.js':
        "require('node:http').createServer((_, a) => a.end(require('greet'))).listen(process.env.PORT);\n",
      'packages/greet/package.json':
        '{"name":"greet","main":"made/index.js","scripts":{"build":"mkdir made && cp index.js made"}}',
      'packages/greet/index.js': "module.exports = 'from the workspace';\n",
    },
    pages: { '/': 'from the workspace' },
  },
  "yarn's Plug'n'Play": {
    needs: [['npm', 'view', '@yarnpkg/cli-dist', 'version']],
    files: {
      'package.json':
        '{"packageManager":"yarn@4.5.0","scripts":{"start":"node server.js"},"dependencies":{"is-odd":"3.0.1"}}',
      '.yarnrc.yml': 'nodeLinker: pnp\n',
      'server.js':
        "require('node:http').createServer((_, a) => a.end(`odd: ${require('is-odd')(3)} ${process.versions.pnp}`)).listen(process.env.PORT);\n",
    },
    pages: { '/': 'odd: true 3' },
  },
};

function missing(needs: App['needs']): string | null {
  for (const [program = '', ...args] of needs) {
    try {
      execFileSync(program, args, { stdio: 'ignore', timeout: 30_000 });
    } catch {
      return `"${[program, ...args].join(' ')}" does not work here`;
    }
  }
  return null;
}

it.for(Object.entries(APPS))('%s', { timeout: PATIENCE_MS }, async ([, { needs, files, pages }], test) => {
  const reason = missing(needs);
  if (reason !== null) return test.skip(reason);
  const world = await builderWorld(undefined, { more: { buildTimeoutMs: PATIENCE_MS } });
  try {
    const artifact = await world.build({ app: 'shop', platform: 'auto', source: treeOf(files) });
    const manifest = await world.manifest(artifact);
    const running = await startProcess({
      command: artifact.processes['web'] ?? '',
      cwd: world.code(artifact),
      manifest,
    });
    try {
      for (const [path, page] of Object.entries(pages)) {
        const text = async (): Promise<string> => fetch(running.url + path).then((answer) => answer.text(), String);
        await expect
          .poll(text, { timeout: ANSWER_MS, message: running.output() })
          .toMatch(new RegExp(`^${escape(page)}`));
      }
    } finally {
      await running.stop();
    }
  } finally {
    await world.dispose();
  }
});

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
