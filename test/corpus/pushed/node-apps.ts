/** Apps for Node, Bun and Deno whose packages come from the registry: small ones, in the shapes in which people push them. */
import { json, nodeServer, type PushedApps } from './pushed-app.ts';

const ODD = 'String(require("is-odd")(3))';
const odd = (more: object = {}): string =>
  json({ name: 'shop', private: true, dependencies: { 'is-odd': '3.0.1' }, ...more });
const pages = { '/': 'true' };
const registry = (path: string): string => `https://registry.npmjs.org/${path}`;
const ODD_SUM = 'sha512-CQpnWPrDwmP1+SMHXZhtLtJv90yiyVfluGsX5iNCVkrhQtU3TQHsUWPG9wkdk9Lgd5yNpAg9jQEo90CBaXgWMA==';
const NUMBER_SUM = 'sha512-Wu1VHeILBK8KAWJUAiSZQX94GmOE45Rg6/538fKwiloUu21KncEkYGPqob2oSZ5mUT73vLGrHQjKw3KMPwfDzg==';

const NPM_LOCK = json({
  name: 'shop',
  lockfileVersion: 3,
  requires: true,
  packages: {
    '': { name: 'shop', dependencies: { 'is-odd': '3.0.1' } },
    'node_modules/is-number': { version: '6.0.0', resolved: registry('is-number/-/is-number-6.0.0.tgz') },
    'node_modules/is-odd': {
      version: '3.0.1',
      resolved: registry('is-odd/-/is-odd-3.0.1.tgz'),
      dependencies: { 'is-number': '^6.0.0' },
    },
  },
});

export const PACKAGE_MANAGERS: PushedApps = {
  'packages without a lock file': {
    needs: ['npm'],
    files: { 'package.json': odd(), 'server.js': nodeServer(ODD) },
    pages,
    says: ['there is no package-lock.json'],
  },
  'packages locked by npm': {
    needs: ['npm'],
    files: {
      'package.json': odd(),
      'server.js': nodeServer(ODD),
      'package-lock.json': NPM_LOCK,
    },
    pages,
    says: ['npm ci'],
  },
  'packages locked by yarn 1': {
    needs: ['npm'],
    files: {
      'package.json': odd({ scripts: { start: 'node server.js' } }),
      'server.js': nodeServer(ODD),
      'yarn.lock': `# yarn lockfile v1\n\n\nis-number@^6.0.0:\n  version "6.0.0"\n  resolved "${registry('is-number/-/is-number-6.0.0.tgz')}"\n\nis-odd@3.0.1:\n  version "3.0.1"\n  resolved "${registry('is-odd/-/is-odd-3.0.1.tgz')}"\n  dependencies:\n    is-number "^6.0.0"\n`,
    },
    pages,
  },
  'packages of yarn 4, unpacked': {
    isExtra: true,
    needs: ['npm'],
    files: {
      'package.json': odd({ packageManager: 'yarn@4.5.0' }),
      '.yarnrc.yml': 'nodeLinker: node-modules\n',
      'server.js': nodeServer(ODD),
    },
    pages,
  },
  'packages locked by pnpm': {
    needs: ['npm'],
    files: {
      'package.json': odd(),
      'server.js': nodeServer(ODD),
      'pnpm-lock.yaml': `lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      is-odd:\n        specifier: 3.0.1\n        version: 3.0.1\n\npackages:\n\n  is-number@6.0.0:\n    resolution: {integrity: ${NUMBER_SUM}}\n    engines: {node: '>=0.10.0'}\n\n  is-odd@3.0.1:\n    resolution: {integrity: ${ODD_SUM}}\n    engines: {node: '>=4'}\n\nsnapshots:\n\n  is-number@6.0.0: {}\n\n  is-odd@3.0.1:\n    dependencies:\n      is-number: 6.0.0\n`,
    },
    pages,
  },
  'packages of bun, run by it': {
    needs: ['npm'],
    files: {
      'package.json': odd({ packageManager: 'bun@1.3.14', scripts: { start: 'bun index.ts' } }),
      'index.ts':
        'import odd from "is-odd";\nconst port: number = Number(process.env.PORT);\nBun.serve({ port, fetch: () => new Response(String(odd(3))) });\n',
    },
    pages,
  },
  'bun without a lock file, as "bun create" leaves it': {
    isExtra: true,
    needs: ['npm', 'networks'],
    files: {
      'package.json': odd({
        scripts: { dev: 'bun run --watch src/index.ts' },
        devDependencies: { 'bun-types': 'latest' },
        module: 'src/index.js',
      }),
      'src/index.ts':
        'import odd from "is-odd";\nBun.serve({ port: 3000, fetch: () => new Response(String(odd(3))) });\n',
    },
    says: ['bun is used, for package.json asks for bun-types'],
    pages,
  },
  'Deno that serves what it exports': {
    needs: ['npm'],
    files: {
      'deno.json': json({ imports: { odd: 'npm:is-odd@3.0.1' } }),
      'main.ts': 'import odd from "odd";\nexport default { fetch: () => new Response(String(odd(3))) };\n',
    },
    pages,
  },
  'two lock files': {
    needs: ['npm'],
    files: {
      'package.json': odd({ packageManager: 'npm@10.8.0' }),
      'server.js': nodeServer(ODD),
      'yarn.lock': '',
      'package-lock.json': NPM_LOCK,
    },
    says: ['package-lock.json and yarn.lock are both there: npm is used'],
    pages,
  },
  'a workspace with one app, which needs another package': {
    needs: ['npm'],
    files: {
      'package.json': json({ private: true, workspaces: ['apps/*', 'packages/*'] }),
      'apps/web/package.json': json({
        name: 'web',
        scripts: { start: 'node server.js' },
        dependencies: { greet: '1.0.0' },
      }),
      'apps/web/server.js': nodeServer('require("greet")'),
      'packages/greet/package.json': json({ name: 'greet', version: '1.0.0', main: 'index.js' }),
      'packages/greet/index.js': "module.exports = 'from the workspace';\n",
    },
    says: ['The app is apps/web'],
    pages: { '/': 'from the workspace' },
  },
  'heroku-postbuild': {
    needs: ['npm'],
    files: {
      'package.json': odd({ scripts: { build: 'exit 1', 'heroku-postbuild': 'echo made > page' } }),
      'server.js': nodeServer('require("fs").readFileSync("page", "utf8")'),
    },
    pages: { '/': 'made' },
  },
  'development packages that are kept by a setting': {
    needs: ['npm'],
    files: {
      'package.json': json({ scripts: { build: 'echo' }, devDependencies: { 'is-odd': '3.0.1' } }),
      'server.js': nodeServer(ODD),
    },
    settings: ['--keep-dev-packages', 'yes'],
    says: ['Development packages stay: it is set on the app'],
    pages,
  },
};

export const PACKAGE_TRAPS: PushedApps = {
  'a package that is nowhere': {
    isExtra: true,
    needs: ['npm'],
    files: { 'package.json': json({ dependencies: { '@nobody-here/has-this-package': '1.0.0' } }), 'server.js': '' },
    fails: { cause: 'build_failed', message: /The step "npm install.*" failed with exit code 1/ },
    says: ['@nobody-here/has-this-package is not there, or its registry wants a login', 'NPM_TOKEN'],
  },
  'a version of Node that is nowhere': {
    isExtra: true,
    needs: ['npm'],
    files: { 'package.json': json({ engines: { node: '999.x' } }), 'server.js': '' },
    fails: { cause: 'toolchain_missing', message: /No version of node matches "999.x"/ },
    says: ['Change engines.node in package.json'],
  },
  'a build script that fails': {
    needs: ['npm'],
    files: { 'package.json': odd({ scripts: { build: 'node -e "process.exit(4)"' } }), 'server.js': '' },
    fails: { cause: 'build_failed', message: /The step "npm run build" failed with exit code 4/ },
  },
  'a yarn.lock that is old': {
    files: { 'package.json': odd(), 'server.js': '', 'yarn.lock': 'is-odd@2.0.0:\n  version "2.0.0"\n' },
    fails: {
      cause: 'invalid_config',
      message: /yarn.lock does not fit package.json: package.json line \d+ asks for is-odd 3.0.1/,
    },
  },
  'a site whose build makes no page': {
    isExtra: true,
    needs: ['npm'],
    files: {
      'package.json': json({ devDependencies: { vite: '7' }, scripts: { build: 'echo nothing' } }),
      'index.html': '',
    },
    fails: { cause: 'build_failed', message: /made no index.html in dist or build, where Vite puts it/ },
  },
};
