/** Next steps of plans whose apps fetch nothing. */
import { json, nodeServer } from '../pushed/pushed-app.ts';
import type { HintRow } from './hint-row.ts';

const SERVER = { 'server.js': nodeServer('"mended"') };
const page = 'mended';
const FILES = 'build-plan/app-files/';
const READ = 'build-plan/source/source-files.ts';
const CHOOSE = 'build-plan/choose-language.ts';
const startable = (name: string): string => json({ name, private: true, scripts: { start: 'node main.js' } });

export const PLAN_ROWS: Readonly<Record<string, HintRow>> = {
  'a source of nothing known': {
    from: CHOOSE,
    cause: 'no_platform',
    files: { 'notes.txt': '' },
    hint: 'One of these files is to be at the top of the repository: ',
    follow: [{ edit: SERVER }],
    page,
  },
  'a source without code': {
    from: CHOOSE,
    cause: 'no_platform',
    files: { 'README.md': '' },
    hint: 'Add the files of the app to the repository (git add -A, git commit), and push again.',
    follow: [{ edit: SERVER }],
    page,
  },
  'a source without a file of its platform': {
    from: CHOOSE,
    cause: 'no_platform',
    platform: 'go',
    files: { 'README.md': '' },
    hint: 'Add one of these files at the top of the repository, commit and push again; or give the app another platform: tancho app update APP --platform <platform>',
    follow: [{ edit: SERVER }, { tancho: { '<platform>': 'nodejs' } }],
    page,
  },
  'source of another language': {
    from: CHOOSE,
    cause: 'no_platform',
    platform: 'go',
    files: SERVER,
    hint: 'Change the app and push again: tancho app update APP --platform nodejs',
    follow: [{ tancho: {} }],
    page,
  },
  'an app in a directory': {
    from: CHOOSE,
    cause: 'no_platform',
    files: { 'README.md': '', 'shop/server.js': SERVER['server.js'] },
    hint: 'Make that directory the app and push again: tancho app update APP --root shop',
    follow: [{ tancho: {} }],
    page,
  },
  'a root that is not there': {
    from: 'backends/builder/platform/narrow-to.ts',
    cause: 'invalid_config',
    settings: ['--root', 'shops'],
    files: { 'README.md': '', 'shop/server.js': SERVER['server.js'] },
    hint: 'Set another one and push again: tancho app update APP --root <directory>   (with --root "" it is all of the source)',
    follow: [{ tancho: { '<directory>': 'shop' } }],
    page,
  },
  'JSON that is none': {
    from: READ,
    cause: 'invalid_config',
    files: { ...SERVER, 'package.json': '{' },
    hint: 'Correct package.json and push again.',
    follow: [{ edit: { 'package.json': '{}' } }],
    page,
  },
  'a file that is too large': {
    from: READ,
    cause: 'invalid_config',
    files: { ...SERVER, 'package.json': json({ dependencies: {} }), Procfile: `${'#'.repeat(17 * 1024 * 1024)}\n` },
    hint: 'Make Procfile smaller, or take it out of the repository, commit and push again.',
    follow: [{ edit: { Procfile: null } }],
    page,
  },
  'a package.json that is no object': {
    from: 'build-plan/languages/node/package-json.ts',
    cause: 'invalid_config',
    files: { ...SERVER, 'package.json': '[]' },
    hint: 'Correct package.json and push again.',
    follow: [{ edit: { 'package.json': '{}' } }],
    page,
  },
  'a line of a Procfile': {
    from: `${FILES}procfile.ts`,
    cause: 'invalid_config',
    files: { ...SERVER, Procfile: 'node server.js\n' },
    hint: 'Write one process per line, for example "web: node server.js", and push again.',
    follow: [{ exampleTo: 'Procfile' }],
    page,
  },
  'too many processes': {
    from: `${FILES}procfile.ts`,
    cause: 'invalid_config',
    files: { ...SERVER, Procfile: Array.from({ length: 51 }, (_, at) => `p${at}: node server.js\n`).join('') },
    hint: 'Remove some of its lines, commit and push again.',
    follow: [{ edit: { Procfile: 'web: node server.js\n' } }],
    page,
  },
  'commands in two files': {
    from: `${FILES}app-files.ts`,
    cause: 'invalid_config',
    files: { ...SERVER, Procfile: 'web: node server.js\n', 'tancho.yaml': 'processes: { web: node server.js }\n' },
    hint: 'Keep the commands in one of them and remove the others; beside a Procfile tancho.yaml may give a process its count, watch_seconds and liveness.',
    follow: [{ edit: { 'tancho.yaml': 'processes: { web: { count: 1 } }\n' } }],
    page,
  },
  'a page for maintenance that is not there': {
    from: `${FILES}maintenance-page.ts`,
    cause: 'invalid_config',
    files: { ...SERVER, 'tancho.yaml': 'maintenance_page: public/down.html\n' },
    hint: 'Name an HTML file of the repository, such as public/maintenance.html, as maintenance_page in tancho.yaml, or remove the key, and push again.',
    follow: [
      {
        edit: {
          'public/maintenance.html': '<h1>Soon</h1>',
          'tancho.yaml': 'maintenance_page: public/maintenance.html\n',
        },
      },
    ],
    page,
  },
  'a page for maintenance that is too large': {
    from: `${FILES}maintenance-page.ts`,
    cause: 'invalid_config',
    files: { ...SERVER, 'tancho.yaml': 'maintenance_page: down.html\n', 'down.html': 'x'.repeat(20_000) },
    hint: 'Make down.html smaller, with large images and styles at another address, and push again.',
    follow: [{ edit: { 'down.html': '<h1>Soon</h1>' } }],
    page,
  },
  'releases in two files': {
    from: `${FILES}app-files.ts`,
    cause: 'invalid_config',
    files: {
      ...SERVER,
      Procfile: 'release: echo a\nweb: node server.js\n',
      'tancho.yaml': 'hooks: { release: [echo b] }\n',
    },
    hint: 'Keep the commands that run once per new version in one of them and push again.',
    follow: [{ edit: { 'tancho.yaml': null } }],
    page,
  },
  'liveness in two places': {
    from: `${FILES}app-files.ts`,
    cause: 'invalid_config',
    files: {
      ...SERVER,
      'tancho.yaml': 'healthcheck: { liveness: off }\nprocesses: { web: { command: node server.js, liveness: off } }\n',
    },
    hint: 'They are the same: keep one of them in tancho.yaml and push again.',
    follow: [{ edit: { 'tancho.yaml': 'healthcheck: { liveness: off }\n' } }],
    page,
  },
  'a key that nobody knows': {
    from: `${FILES}app-files.ts`,
    cause: 'invalid_config',
    files: { ...SERVER, 'tancho.yaml': 'hook: {}\n' },
    hint: 'Correct tancho.yaml and push again; its keys are described in docs/app-files.md.',
    follow: [{ edit: { 'tancho.yaml': 'hooks: {}\n' } }],
    page,
  },
  'nothing that starts': {
    from: 'build-plan/plan-source.ts',
    cause: 'no_process',
    files: { 'package.json': '{}', 'lib/server.js': SERVER['server.js'] },
    hint: 'Add a file named Procfile at the top of the repository with one process per line, for example: web: node server.js',
    follow: [{ edit: { Procfile: 'web: node lib/server.js\n' } }],
    page,
  },
  'a program that no script builds': {
    from: 'build-plan/languages/node/missing-program.ts',
    cause: 'no_process',
    files: {
      'package.json': json({ scripts: { start: 'node dist/server.js' }, devDependencies: { typescript: '5' } }),
      'src/server.ts': SERVER['server.js'],
    },
    says: 'runs dist/server.js (scripts.start in package.json), which is not in the source',
    hint: 'Add the script that makes it to package.json, as "build": "tsc", or name a file that is there; then push again.',
    follow: [
      {
        edit: {
          'package.json': json({
            scripts: { build: 'mkdir dist && cp src/server.ts dist/server.js', start: 'node dist/server.js' },
          }),
        },
      },
    ],
    page,
  },
  'a workspace of Nx with two apps': {
    from: 'build-plan/languages/node/nx.ts',
    cause: 'no_process',
    needs: ['npm'],
    files: {
      'package.json': json({ devDependencies: { nx: '21', vite: '7' } }),
      ...{ 'nx.json': '{}', 'apps/api/project.json': '{}', 'apps/web/project.json': '{}' },
    },
    hint: 'Say it in the scripts of package.json, for example "build": "nx build api" and "start": "node dist/apps/api/main.js" (for pages, in place of start, in tancho.yaml: static: { root: dist/apps/api }); commit and push again.',
    follow: [
      {
        edit: {
          'package.json': json({
            devDependencies: { nx: '21', vite: '7' },
            scripts: { build: 'nx build api', start: 'node dist/apps/api/main.js' },
          }),
        },
      },
    ],
    page,
  },
  'a workspace with two apps': {
    from: 'build-plan/languages/node/app-package.ts',
    cause: 'no_process',
    needs: ['npm'],
    files: {
      'package.json': json({ name: 'all', private: true, workspaces: ['api', 'web'], scripts: {} }),
      'api/package.json': json({ name: 'api', private: true, scripts: { start: 'node main.js' } }),
      'api/main.js': SERVER['server.js'],
      'web/package.json': startable('web'),
    },
    hint: 'Name it and push again: tancho app update APP --root api   (or web). Where it is none of these, say how it starts, in a file named Procfile: web: npm run <script>',
    follow: [{ tancho: {} }],
    page,
  },
  'a range of Node that is none': {
    from: 'build-plan/languages/node/node-version.ts',
    cause: 'invalid_config',
    files: { ...SERVER, 'package.json': json({ engines: { node: 'newest' } }) },
    hint: 'Write for example ">=20" or "22.x" as engines.node in package.json and push again.',
    follow: [{ edit: { 'package.json': json({ engines: { node: '>=20' } }) } }],
    page,
  },
  'pages that a hook makes elsewhere': {
    from: 'build-plan/languages/static/static-files.ts',
    cause: 'no_process',
    isBuilt: true,
    files: { 'index.html': page, 'tancho.yaml': 'hooks: { build: [mkdir made, mv index.html made/] }\n' },
    hint: ', or name the directory in tancho.yaml: static: { root: <directory> }',
    follow: [
      { edit: { 'tancho.yaml': 'hooks: { build: [mkdir made, mv index.html made/] }\nstatic: { root: made }\n' } },
    ],
    page,
  },
  'pages that need a build which is not there': {
    from: 'build-plan/languages/static/static-files.ts',
    cause: 'no_platform',
    files: { 'index.html': '<script type="module" src="/src/main.ts"></script>' },
    hint: 'Commit the package.json with whose packages it is built, or what the build makes, in dist; then push again.',
    follow: [{ edit: { 'dist/index.html': page } }],
    page,
  },
};
