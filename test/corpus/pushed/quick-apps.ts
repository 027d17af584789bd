/** Apps that fetch nothing: what a push is to make of them can be tried in seconds. */
import { json, nodeServer, type PushedApps } from './pushed-app.ts';

const NODE = { 'server.js': nodeServer('"from server.js"') };
const STARTED = { pages: { '/': 'from server.js' } };
const unlinked = (name: string, more: object = {}): string => json({ name, private: true, ...more });

/** The file says how it starts. */
export const QUICK_STARTS: PushedApps = {
  'a server.js and nothing else': { files: NODE, ...STARTED, says: ['taken for nodejs: it has server.js'] },
  'an index.js without package.json': {
    files: { 'index.js': nodeServer('"from index"') },
    pages: { '/': 'from index' },
  },
  'the main file in src': {
    files: { 'package.json': json({ main: 'src/app' }), 'src/app.js': nodeServer('"from src"') },
    pages: { '/': 'from src' },
  },
  'a start script that sets a variable': {
    files: {
      'package.json': json({ scripts: { start: 'GREETING=hello node app.js' } }),
      'app.js': nodeServer('process.env.GREETING'),
    },
    pages: { '/': 'hello' },
  },
  'a Procfile with a release, a worker and a task': {
    files: {
      ...NODE,
      'worker.js': 'setInterval(() => {}, 1000);\n',
      Procfile: 'release: echo migrated\nweb: node server.js\nworker: node worker.js\nimport: node -e 0\n',
    },
    ...STARTED,
    says: ['migrated', 'import'],
  },
  'a start command that is set on the app': {
    files: { 'package.json': json({ name: 'x' }), 'other.js': nodeServer('"as it was set"') },
    settings: ['--start-command', 'node other.js'],
    pages: { '/': 'as it was set' },
  },
  'a build command that is set on the app': {
    files: {
      'server.js': nodeServer('require("./made.json").text'),
      'make.sh': 'echo \'{"text":"made"}\' > made.json\n',
    },
    settings: ['--build-command', 'sh make.sh'],
    pages: { '/': 'made' },
  },
  'a generated variable of app.json': {
    files: {
      'server.js': nodeServer('`key of ${process.env.KEY?.length}`'),
      'app.json': json({ env: { KEY: { generator: 'secret' } } }),
    },
    pages: { '/': 'key of 128' },
  },
  'an app in a directory that is named': {
    files: { 'README.md': '', 'shop/server.js': nodeServer('"below"') },
    settings: ['--root', 'shop'],
    pages: { '/': 'below' },
  },
  'pages with their style': {
    files: { 'index.html': '<link rel="stylesheet" href="/site.css"><h1>pages</h1>', 'site.css': 'h1 {}' },
    pages: { '/': 'pages', '/site.css': 'h1 {}' },
  },
  'a site in a directory, with a page for what is not there': {
    files: { 'public/index.html': '<h1>start</h1>', 'public/404.html': '<h1>lost</h1>' },
    pages: { '/': 'start', '/nowhere': 'lost' },
  },
  'start:prod without start': {
    files: { 'package.json': json({ scripts: { 'start:prod': 'node made.js' } }), 'made.js': nodeServer('"in use"') },
    pages: { '/': 'in use' },
  },
  "Render's blueprint": {
    files: {
      'a.js': nodeServer('"by render.yaml"'),
      'package.json': '{}',
      'render.yaml': 'services:\n  - { type: web, startCommand: node a.js }\n',
    },
    pages: { '/': 'by render.yaml' },
  },
  "Railway's file": {
    files: {
      'a.js': nodeServer('"by railway.json"'),
      'package.json': '{}',
      'railway.json': json({ deploy: { startCommand: 'node a.js' } }),
    },
    pages: { '/': 'by railway.json' },
  },
};

/** Not among the quick ones, for there are enough of them. */
export const MORE_STARTS: PushedApps = {
  'hooks.build in tancho.yaml': {
    files: {
      'server.js': nodeServer('require("./made.json").text'),
      'tancho.yaml': 'hooks:\n  build:\n    - echo \'{"text":"hooked"}\' > made.json\n',
    },
    pages: { '/': 'hooked' },
  },
  'a health check that looks at the body': {
    files: {
      'server.js': nodeServer('request.url === "/up" ? "ok" : "checked"'),
      'tancho.yaml': 'healthcheck: { path: /up, match: ^ok$ }\n',
    },
    pages: { '/': 'checked' },
  },
  "a site with Heroku's static.json": {
    files: {
      'dist/index.html': '<h1>one page</h1>',
      'static.json': json({ root: 'dist/', routes: { '/**': 'index.html' } }),
    },
    platform: 'static',
    pages: { '/deep/link': 'one page' },
  },
  'a fixed port, where units have networks of their own': {
    needs: ['networks'],
    files: { 'server.js': "require('node:http').createServer((_, answer) => answer.end('fixed')).listen(3000);\n" },
    says: ['listens on port 3000 (server.js line 1), not on the one in PORT'],
    pages: { '/': 'fixed' },
  },
};

/** Traps: what is wrong is said, with the file and line or the setting. */
export const QUICK_TRAPS: PushedApps = {
  'a release that fails': {
    files: { ...NODE, Procfile: 'release: sh -c "echo no table; exit 3"\nweb: node server.js\n' },
    fails: { cause: 'release_command_failed', message: /"sh -c "echo no table; exit 3"" exited with code 3/ },
    says: ['no table'],
  },
  'a server that ends': {
    files: { 'server.js': 'console.error("no DATABASE_URL"); process.exit(7);\n' },
    fails: { cause: 'exited', message: /The process "web" ended with code 7 before it was ready/ },
    says: ['no DATABASE_URL'],
  },
  'a health check that fails': {
    files: { ...NODE, 'tancho.yaml': 'healthcheck: { path: /up, match: never }\n' },
    fails: { cause: 'health_check_failed', message: /GET \/up of the process "web" failed/ },
  },
  'source of another language than the app': {
    files: NODE,
    platform: 'python',
    fails: {
      cause: 'no_platform',
      message: /of the platform python, but the source looks like nodejs \(it has server.js\)/,
    },
  },
  'a page that needs a build': {
    files: { 'index.html': '<div id="root"></div>\n<script type="module" src="/src/main.tsx"></script>' },
    fails: { cause: 'no_platform', message: /^index.html line 2 needs a build/ },
  },
  'an app in a directory that nothing names': {
    files: { 'README.md': '', 'shop/server.js': '' },
    fails: { cause: 'no_platform', message: /There is shop\/server.js, but the app must lie at the top/ },
  },
  'a root that is not there': {
    files: NODE,
    settings: ['--root', 'apps/web'],
    fails: { cause: 'invalid_config', message: /root is set to apps\/web, and the source has no such directory/ },
  },
  'packages, and nothing that starts': {
    files: { 'package.json': unlinked('lib') },
    fails: { cause: 'no_process', message: /says nowhere how it is started, and nodejs has no default/ },
  },
  'a workspace with two apps': {
    files: {
      'package.json': unlinked('all', { workspaces: ['api', 'web'] }),
      'api/package.json': unlinked('api', { scripts: { start: 'node .' } }),
      'web/package.json': unlinked('web', { scripts: { start: 'node .' } }),
    },
    fails: {
      cause: 'no_process',
      message: /several packages that start, and nothing says which of them is the app: api, web/,
    },
  },
  'a package.json that is none': {
    files: { 'package.json': '{\n  "name":\n}' },
    fails: { cause: 'invalid_config', message: /^package.json is not valid JSON/ },
  },
  'a lock file that is older than package.json': {
    files: {
      ...NODE,
      'package.json': json({ dependencies: { express: '^5.0.0' } }),
      'package-lock.json': json({ lockfileVersion: 3, packages: { 'node_modules/express': { version: '4.21.0' } } }),
    },
    fails: { cause: 'invalid_config', message: /package.json line 3 asks for express \^5.0.0, and 4.21.0 is locked/ },
  },
  'an unknown range of Node': {
    files: { ...NODE, 'package.json': json({ engines: { node: 'newest' } }) },
    fails: { cause: 'invalid_config', message: /engines.node is "newest"/ },
  },
  'a line of the Procfile that is none': {
    files: { ...NODE, Procfile: 'web: node server.js\nworker node worker.js\n' },
    fails: { cause: 'invalid_config', message: /^Procfile line 2: expected "name: command"/ },
  },
  'an unknown key in tancho.yaml': {
    files: { ...NODE, 'tancho.yaml': 'hooks:\n  biuld: [make]\n' },
    fails: { cause: 'invalid_config', message: /^tancho.yaml line 2: hooks.biuld is not a known key/ },
  },
  'a Dockerfile without FROM': {
    files: { Dockerfile: 'RUN make\n' },
    fails: { cause: 'invalid_config', message: /Dockerfile has no FROM/ },
  },
  'a Dockerfile that begins with no image': {
    files: { Dockerfile: '# an image\nFROM not:an:image\n' },
    fails: { cause: 'invalid_config', message: /Dockerfile line 2: "not:an:image" is not the name of an image/ },
  },
  'Flask without a list of packages': {
    files: { 'app.py': 'from flask import Flask\napp = Flask(__name__)\n' },
    fails: { cause: 'invalid_config', message: /app.py line 2 needs Flask, but the source has no list of packages/ },
  },
  'Go of the time before modules': {
    files: {
      'main.go': 'package main\nfunc main() {}\n',
      'Godeps/Godeps.json': json({ ImportPath: 'example.com/shop' }),
    },
    fails: { cause: 'invalid_config', message: /There is no go.mod.*it has Godeps\/Godeps.json/ },
  },
  'several programs of Go': {
    files: {
      'go.mod': 'module x\n\ngo 1.21\n',
      'cmd/a/main.go': 'package main\nfunc main() {}\n',
      'cmd/b/main.go': 'package main\nfunc main() {}\n',
    },
    fails: { cause: 'no_process', message: /several programs.*bin\/a \(cmd\/a\), bin\/b \(cmd\/b\)/ },
  },
  'a library in Rust': {
    files: { 'Cargo.toml': '[package]\nname = "x"\nversion = "1.0.0"\n', 'src/lib.rs': '' },
    fails: { cause: 'no_process', message: /No package of this source has a program/ },
  },
  'a war': {
    files: { 'pom.xml': '<project>\n  <packaging>war</packaging>\n</project>\n' },
    fails: { cause: 'no_process', message: /pom.xml line 2 makes a war/ },
  },
  'SvelteKit for another platform': {
    files: {
      'package.json': json({ devDependencies: { '@sveltejs/kit': '2' } }),
      'svelte.config.js': "import adapter from '@sveltejs/adapter-vercel';\n",
    },
    fails: { cause: 'no_process', message: /svelte.config.js line 1 builds for another platform \(adapter-vercel\)/ },
  },
  'a Compose file alone': {
    files: { 'compose.yaml': 'services:\n  db: { image: postgres }\n' },
    fails: { cause: 'no_platform', message: /is not recognised/ },
    says: ['postgres'],
  },
};
