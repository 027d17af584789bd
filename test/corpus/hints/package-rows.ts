/** Next steps of apps for Node whose packages come from the registry. */
import { json, nodeServer } from '../pushed/pushed-app.ts';
import type { HintRow } from './hint-row.ts';

const page = 'mended';
const ODD = { dependencies: { 'is-odd': '3.0.1' } };
const SERVER = { 'server.js': nodeServer('require("is-odd")(3) ? "mended" : ""') };
/** The package manager would try for minutes. */
const IMPATIENT = { '.npmrc': 'fetch-retries=0\n' };
const ADVICE = 'backends/builder/platform/steps/advice.ts';

export const PACKAGE_ROWS: Readonly<Record<string, HintRow>> = {
  'a lock file that is old': {
    from: 'build-plan/languages/node/lock-file.ts',
    cause: 'invalid_config',
    needs: ['npm'],
    files: { ...SERVER, 'package.json': json(ODD), 'package-lock.json': json({ lockfileVersion: 3, packages: {} }) },
    hint: 'Run "npm install" in the app, commit package-lock.json and push again.',
    follow: [{ inApp: ['npm install'] }],
    page,
  },
  'a lock file that npm finds old': {
    isExtra: true,
    from: ADVICE,
    cause: 'build_failed',
    needs: ['npm'],
    files: {
      ...SERVER,
      'package.json': json({ ...ODD, overrides: { 'is-number': '7.0.0' } }),
      'package-lock.json': json({ lockfileVersion: 3, packages: { '': {} } }),
    },
    hint: 'package-lock.json does not fit package.json. Run "npm install" in the app, commit package-lock.json and push again.',
    follow: [{ inApp: ['npm install'] }],
    page,
  },
  'packages that do not fit': {
    isExtra: true,
    from: ADVICE,
    cause: 'build_failed',
    needs: ['npm'],
    files: {
      ...SERVER,
      'package.json': json({ dependencies: { 'is-odd': '3.0.1', react: '18.3.1', 'react-dom': '19.0.0' } }),
    },
    hint: 'Packages want versions of each other that do not fit. Make "npm install" work in the app, commit package-lock.json and push again.',
    follow: [
      {
        edit: { 'package.json': json({ dependencies: { 'is-odd': '3.0.1', react: '19.0.0', 'react-dom': '19.0.0' } }) },
      },
      { inApp: ['npm install'] },
    ],
    page,
  },
  'a bundler that needs a hash of an older Node': {
    from: ADVICE,
    cause: 'build_failed',
    needs: ['npm'],
    files: {
      'server.js': nodeServer('"mended"'),
      'bundle.js': 'require("crypto").createHash("md4");\n',
      'package.json': json({ scripts: { build: 'node bundle.js', start: 'node server.js' } }),
    },
    hint: 'A bundler of this app (webpack 4 or older) needs a hash that Node has refused since version 17. Ask for an older Node, with "engines": { "node": "16" } in package.json, commit and push again; or allow the hash and push again: tancho env set NODE_OPTIONS=--openssl-legacy-provider',
    follow: [{ tancho: {} }],
    page,
  },
  'a package that is nowhere': {
    from: ADVICE,
    cause: 'build_failed',
    needs: ['npm'],
    files: { ...SERVER, 'package.json': json({ dependencies: { '@nobody-here/has-this-package': '1' } }) },
    hint: '@nobody-here/has-this-package is not there, or its registry wants a login. Check its name; for a private one commit an .npmrc that reads the token from the environment (${NPM_TOKEN}) and set it: tancho env set -p NPM_TOKEN=...',
    follow: [{ edit: { 'package.json': json(ODD) } }],
    page,
  },
  'a version of a package that is nowhere': {
    isExtra: true,
    from: ADVICE,
    cause: 'build_failed',
    needs: ['npm'],
    files: { ...SERVER, 'package.json': json({ dependencies: { 'is-odd': '99.9.9' } }) },
    says: 'is-odd@99.9.9',
    hint: 'No version of a package fits what is asked for; the line above names it. Ask for one that there is in package.json, write the lock file anew if there is one, commit and push again.',
    follow: [{ edit: { 'package.json': json(ODD) } }],
    page,
  },
  'a registry that is nowhere': {
    from: ADVICE,
    cause: 'build_failed',
    needs: ['npm'],
    env: { npm_config_registry: 'http://registry.invalid/' },
    files: { ...SERVER, ...IMPATIENT, 'package.json': json(ODD) },
    hint: 'The server could not find the address of a registry or repository: this is no fault of the code. Push again; if it stays so, an operator has to look at the name resolution of the server, or at the registry or proxy that is set for it.',
    follow: [{ operator: { npm_config_registry: 'https://registry.npmjs.org/' } }],
    page,
  },
  'a registry that does not answer': {
    isExtra: true,
    from: ADVICE,
    cause: 'build_failed',
    needs: ['npm'],
    env: { npm_config_registry: 'http://127.0.0.1:9/' },
    files: { ...SERVER, ...IMPATIENT, 'package.json': json(ODD) },
    hint: 'The server could not reach a registry or repository: this is no fault of the code. Push again in a few minutes; if it stays so, an operator has to look at the network of the server, or at the registry or proxy that is set for it.',
    follow: [{ operator: { npm_config_registry: 'https://registry.npmjs.org/' } }],
    page,
  },
  'a package whose installation fetches from a host that is not reached': {
    isExtra: true,
    from: ADVICE,
    cause: 'build_failed',
    needs: ['npm'],
    files: {
      'server.js': nodeServer('require("sharp").versions.sharp ? "mended" : ""'),
      'package.json': json({ dependencies: { sharp: '0.32.6' } }),
      '.npmrc': 'sharp_libvips_binary_host=http://files.nobody.invalid/\n',
      '.gitignore': 'node_modules\n',
    },
    says: 'the installation of sharp fetches from files.nobody.invalid, which this server does not reach',
    hint: 'This is no fault of the code. Take a version of sharp that fetches nothing from there (npm install sharp@latest), commit and push again; or ask the operator to let the server reach files.nobody.invalid, directly or through a proxy (HTTPS_PROXY).',
    follow: [{ inApp: ['npm install sharp@latest'] }],
    page,
  },
  'a package whose installation fails': {
    from: ADVICE,
    cause: 'build_failed',
    needs: ['npm'],
    files: {
      ...SERVER,
      'package.json': json({ dependencies: { 'is-odd': '3.0.1', 'has-script': 'file:has-script' } }),
      '.npmrc': 'install-links=true\n',
      'has-script/package.json': json({
        name: 'has-script',
        version: '1.0.0',
        scripts: { install: 'echo no compiler; exit 3' },
      }),
    },
    says: 'the installation of has-script failed.',
    hint: 'What it printed says what has-script lacks. Take another version of it, commit and push again; or ask the operator to install what it needs on the server.',
    follow: [{ edit: { 'has-script/package.json': json({ name: 'has-script', version: '2.0.0' }) } }],
    page,
  },
  'a Node that cannot be fetched': {
    isExtra: true,
    from: 'backends/builder/platform/toolchain/toolchains.ts',
    cause: 'toolchain_missing',
    needs: ['npm'],
    // Of a kind that npm does not try again for a minute.
    env: { npm_config_registry: 'ftp://127.0.0.1/' },
    files: { 'package.json': json({ engines: { node: '18.20.4' } }), 'server.js': nodeServer('"mended"') },
    hint: 'Check that the server reaches the package registry, then push again.',
    follow: [{ operator: { npm_config_registry: 'https://registry.npmjs.org/' } }],
    page,
  },
  'a package of a repository that wants a login': {
    from: ADVICE,
    cause: 'build_failed',
    needs: ['npm'],
    files: {
      ...SERVER,
      'package.json': json({ dependencies: { 'is-odd': 'git+ssh://git@127.0.0.1/jonschlinkert/is-odd.git' } }),
    },
    hint: 'A package comes from a git repository that wants a login, and builds have no keys. Use its https address with a token, or a registry.',
    follow: [{ edit: { 'package.json': json(ODD) } }],
    page,
  },
  'a site whose build makes another directory': {
    from: 'build-plan/languages/node/start.ts',
    cause: 'build_failed',
    needs: ['npm'],
    files: {
      'index.html': page,
      'package.json': json({ devDependencies: { vite: '7' }, scripts: { build: 'vite build --outDir made' } }),
    },
    hint: 'Name the directory that it makes in tancho.yaml: static: { root: <directory> }; or say what starts the app in a Procfile.',
    follow: [{ edit: { 'tancho.yaml': 'static: { root: made }\n' } }],
    page,
  },
  'pages that need a build, of a platform that runs none': {
    isExtra: true,
    from: 'build-plan/languages/static/static-files.ts',
    cause: 'no_platform',
    needs: ['npm'],
    platform: 'static',
    files: {
      'index.html': `${page}<script type="module" src="/src/main.js"></script>`,
      'src/main.js': '',
      'package.json': json({ devDependencies: { vite: '7' }, scripts: { build: 'vite build' } }),
    },
    hint: 'Let the platform build it and push again: tancho app update APP --platform nodejs   or add the commands as hooks.build to tancho.yaml',
    follow: [{ tancho: {} }],
    page,
  },
  'Astro, as a middleware that no server uses': {
    from: 'build-plan/languages/node/frameworks.ts',
    cause: 'no_process',
    needs: ['npm'],
    files: {
      'package.json': json({
        type: 'module',
        scripts: { build: 'astro build' },
        dependencies: { astro: '5', '@astrojs/node': '9' },
      }),
      'astro.config.mjs':
        "import node from '@astrojs/node';\nexport default { output: 'server', adapter: node({ mode: 'middleware' }) };\n",
      'src/pages/index.astro': '<html><head><title>x</title></head><body><h1>mended</h1></body></html>\n',
    },
    says: 'astro.config.mjs line 2 makes a middleware',
    hint: "Write mode: 'standalone' there, or say in a Procfile what starts the server; commit and push again.",
    follow: [
      {
        edit: {
          'astro.config.mjs':
            "import node from '@astrojs/node';\nexport default { output: 'server', adapter: node({ mode: 'standalone' }) };\n",
        },
      },
    ],
    page,
  },
  'SvelteKit for another platform': {
    isExtra: true,
    from: 'build-plan/languages/node/sveltekit.ts',
    cause: 'no_process',
    needs: ['npm'],
    files: {
      'package.json': json({
        type: 'module',
        scripts: { build: 'vite build' },
        devDependencies: { '@sveltejs/kit': '2', '@sveltejs/vite-plugin-svelte': '6', svelte: '5', vite: '7' },
      }),
      '.gitignore': 'node_modules\n',
      'svelte.config.js':
        "import adapter from '@sveltejs/adapter-vercel';\nexport default { kit: { adapter: adapter() } };\n",
      'vite.config.js': "import { sveltekit } from '@sveltejs/kit/vite';\nexport default { plugins: [sveltekit()] };\n",
      'src/app.html': '<!doctype html><html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>',
      'src/routes/+page.svelte': '<h1>mended</h1>\n',
    },
    hint: 'Run "npm install -D @sveltejs/adapter-node@5", import the adapter from "@sveltejs/adapter-node" in svelte.config.js, commit and push again.',
    follow: [
      { inApp: ['npm install -D @sveltejs/adapter-node@5'] },
      {
        edit: {
          'svelte.config.js':
            "import adapter from '@sveltejs/adapter-node';\nexport default { kit: { adapter: adapter() } };\n",
        },
      },
    ],
    page,
  },
};
