/** Next steps of builds and starts whose apps fetch nothing. */
import { json, nodeServer } from '../pushed/pushed-app.ts';
import type { HintRow } from './hint-row.ts';

const SERVER = { 'server.js': nodeServer('"mended"') };
const page = 'mended';
const READY = 'backends/provisioner/process/readiness.ts';
const BUILDS = 'backends/builder/platform/failures.ts';
const LISTENING_ON = (address: string): string =>
  `require('node:http').createServer((_, answer) => answer.end('fixed')).listen(${address});\n`;
const ONE_NETWORK = { TANCHO_ISOLATION: 'user', TANCHO_UNITS_START_TIMEOUT: '5s' };

export const START_ROWS: Readonly<Record<string, HintRow>> = {
  'a build that makes pages nobody knows of': {
    from: 'build-plan/languages/node/node.ts',
    cause: 'no_process',
    files: { 'package.json': json({ scripts: { build: 'mkdir -p dist && echo mended > dist/index.html' } }) },
    hint: 'Name the directory of the pages in tancho.yaml: static: { root: dist }; or add a file named Procfile at the top of the repository with one process per line, for example: web: node server.js. Then commit and push again.',
    follow: [{ edit: { 'tancho.yaml': 'static: { root: dist }\n' } }],
    page,
  },
  'a file of variables that is on one machine only': {
    from: 'build-plan/languages/node/env-file.ts',
    cause: 'invalid_config',
    files: { ...SERVER, Procfile: 'web: node --env-file=.env server.js\n' },
    hint: 'Take --env-file out of the command, or write --env-file-if-exists where Node is 22.9 or newer, commit and push again; set what .env has on the app: tancho env set NAME=value',
    follow: [{ edit: { Procfile: 'web: node server.js\n' } }],
    page,
  },
  'a release that fails': {
    from: 'domain/units/hook-run.ts',
    cause: 'release_command_failed',
    files: { ...SERVER, Procfile: 'release: exit 3\nweb: node server.js\n' },
    hint: 'Correct what it does, or the command itself, and push again.',
    follow: [{ edit: { Procfile: 'release: exit 0\nweb: node server.js\n' } }],
    page,
  },
  'a step that fails': {
    from: BUILDS,
    cause: 'build_failed',
    files: { ...SERVER, 'tancho.yaml': 'hooks: { build: [exit 3] }\n' },
    hint: 'What it printed says why; correct the code, commit and push again.',
    follow: [{ edit: { 'tancho.yaml': null } }],
    page,
  },
  'a server that says why it ends': {
    from: READY,
    cause: 'exited',
    files: { 'server.js': 'console.log("no KEY"); process.exit(1);\n' },
    hint: 'Its last lines say more; try the command locally with the same environment.',
    follow: [{ edit: SERVER }],
    page,
  },
  'a program that is done': {
    from: READY,
    cause: 'exited',
    files: { 'server.js': 'console.log("sent all letters");\n' },
    hint: 'What answers requests has to go on running and listen on $PORT; what is done and ends is not to be called "web" in the Procfile.',
    follow: [{ edit: SERVER }],
    page,
  },
  'a server that ends without a word': {
    from: READY,
    cause: 'exited',
    files: { 'server.js': 'process.exit(1);\n' },
    hint: 'It printed nothing; try the command locally with the same environment.',
    follow: [{ edit: SERVER }],
    page,
  },
  'a health check that fails': {
    from: READY,
    cause: 'health_check_failed',
    files: { ...SERVER, 'tancho.yaml': 'healthcheck: { path: /up, match: ^ok$ }\n' },
    hint: 'Correct what the app answers there, or the section healthcheck of tancho.yaml, commit and push again.',
    follow: [{ edit: { 'tancho.yaml': 'healthcheck: { path: /up }\n' } }],
    page,
  },
  'a server that does not listen': {
    from: READY,
    cause: 'no_listener',
    env: { TANCHO_UNITS_START_TIMEOUT: '5s' },
    files: { 'server.js': 'setInterval(() => {}, 1000);\n' },
    hint: 'Make it listen on $PORT; if it needs longer to start, raise healthcheck.timeout_seconds in tancho.yaml; if it serves no requests, do not call it "web" in the Procfile. Then push again.',
    follow: [
      {
        edit: {
          'server.js': `setTimeout(() => {\n  ${SERVER['server.js']}}, 7_000);\n`,
          'tancho.yaml': 'healthcheck: { timeout_seconds: 60 }\n',
        },
      },
    ],
    page,
  },
  'a server that listens long before it serves': {
    isExtra: true,
    from: READY,
    cause: 'no_listener',
    env: { TANCHO_UNITS_START_TIMEOUT: '5s' },
    files: {
      'server.js': `${SERVER['server.js'].replace(');\n', ', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 9_000));\n')}`,
    },
    hint: 'What it does before it serves takes too long, or never ends: make it shorter, or raise healthcheck.timeout_seconds in tancho.yaml; then push again.',
    follow: [{ edit: { 'tancho.yaml': 'healthcheck: { timeout_seconds: 60 }\n' } }],
    page,
  },
  'a fixed port': {
    from: READY,
    cause: 'wrong_port',
    env: ONE_NETWORK,
    files: { 'server.js': LISTENING_ON('39123') },
    says: 'listens on port 39123 (server.js line 1), but is to listen on port',
    hint: 'Listen on the port given in the environment variable PORT ($PORT), not on a fixed one.',
    follow: [{ edit: SERVER }],
    page,
  },
  'a server on another address': {
    from: READY,
    cause: 'wrong_interface',
    env: ONE_NETWORK,
    files: { 'server.js': LISTENING_ON("process.env.PORT, '127.0.0.9'") },
    hint: 'Listen on 0.0.0.0 (or 127.0.0.1), not on one network card, nor for IPv6 alone.',
    follow: [{ edit: { 'server.js': SERVER['server.js'].replace('process.env.PORT', "process.env.PORT, '0.0.0.0'") } }],
    page,
  },
  'a server that needs more memory': {
    from: READY,
    cause: 'out_of_memory',
    needs: ['memory limits'],
    env: { TANCHO_UNITS_MEMORY: '96M' },
    files: {
      'server.js': `const kept = Buffer.alloc(${300 * 1024 * 1024}, 1);\n${nodeServer('kept.length > 0 ? "mended" : ""')}`,
    },
    hint: 'Make it use less memory and push again; or give the app a plan with more (tancho plan list, tancho app update --plan <plan>), or ask the operator for more units.memory.',
    follow: [{ operator: { TANCHO_UNITS_MEMORY: '1G' } }],
    page,
  },
  'a build that needs more memory': {
    isExtra: true,
    from: BUILDS,
    cause: 'build_failed',
    needs: ['memory limits'],
    env: { TANCHO_BUILDS_MEMORY: '96M' },
    files: {
      ...SERVER,
      'tancho.yaml': `hooks: { build: ['node -e "Buffer.alloc(${300 * 1024 * 1024}, 1)"'] }\n`,
    },
    hint: 'Make the build need less memory, or ask the operator for more builds.memory.',
    follow: [{ operator: { TANCHO_BUILDS_MEMORY: '2G' } }],
    page,
  },
  'a build that takes too long': {
    isExtra: true,
    from: BUILDS,
    cause: 'timeout',
    env: { TANCHO_BUILDS_TIMEOUT: '2s' },
    files: { ...SERVER, 'tancho.yaml': 'hooks: { build: [sleep 3] }\n' },
    hint: 'Make the build quicker, or ask the operator for a longer builds.timeout.',
    follow: [{ operator: { TANCHO_BUILDS_TIMEOUT: '5m' } }],
    page,
  },
  'a version that is not there': {
    from: 'backends/builder/platform/toolchain/toolchains.ts',
    cause: 'toolchain_missing',
    needs: ['npm'],
    files: { ...SERVER, 'package.json': json({ engines: { node: '999.x' } }) },
    hint: 'Installed here: ',
    follow: [{ edit: { 'package.json': json({ engines: { node: '>=18' } }) } }],
    page,
  },
};
