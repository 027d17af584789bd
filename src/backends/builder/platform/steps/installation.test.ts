import { expect, it } from 'vitest';
import { Advice } from './advice.ts';
import { InstallationOutput } from './installation.ts';

const DOWNLOADING = 'sharp: Downloading https://github.com/lovell/sharp-libvips/releases/libvips-8.14.5.tar.br';
const NOT_FOUND = 'sharp: Installation error: getaddrinfo ENOTFOUND github.com';

function lookedAt(lines: readonly string[]): InstallationOutput {
  const installation = new InstallationOutput();
  for (const line of lines) installation.look(line);
  return installation;
}

/** As they print it. */
const PRINTED: readonly (readonly [string, string, string, string | null, readonly string[]])[] = [
  [
    'npm',
    'sharp',
    'github.com',
    'npm install sharp@latest',
    [
      'npm error code 1',
      'npm error path /srv/slugs/shop/code/node_modules/sharp',
      'npm error command failed',
      'npm error command sh -c (node install/libvips && prebuild-install)',
      `npm error ${DOWNLOADING}`,
      `npm error ${NOT_FOUND}`,
    ],
  ],
  [
    'npm, in a home with a space in its path',
    'sharp',
    'github.com',
    'npm install sharp@latest',
    ['npm error path /srv/my apps/code/node_modules/sharp', 'npm error command failed', `npm error ${NOT_FOUND}`],
  ],
  [
    'npm, of a package within another',
    '@sentry/cli',
    'downloads.sentry-cdn.com',
    'npm install @sentry/cli@latest',
    [
      'npm ERR! path /srv/code/node_modules/x/node_modules/@sentry/cli',
      'npm ERR! command failed',
      'npm ERR! Error: Unable to download sentry-cli binary from https://downloads.sentry-cdn.com/x.',
      'npm ERR! Error code: ENOTFOUND',
    ],
  ],
  [
    'pnpm',
    'sharp',
    'github.com',
    'pnpm add sharp@latest',
    [
      '.../node_modules/other install: getaddrinfo ENOTFOUND elsewhere.example.com',
      '.../node_modules/other install: Done',
      `.../node_modules/sharp install: ${DOWNLOADING}`,
      `.../node_modules/sharp install: ${NOT_FOUND}`,
      '.../node_modules/sharp install: Failed',
      ' ELIFECYCLE  Command failed with exit code 1.',
    ],
  ],
  [
    'yarn 1',
    'sharp',
    'github.com',
    'yarn add sharp@latest',
    ['error /srv/code/node_modules/sharp: Command failed.', 'Exit code: 1', DOWNLOADING, NOT_FOUND],
  ],
  [
    'yarn 4',
    'sharp',
    'github.com',
    'yarn add sharp@latest',
    [
      '\u27a4 YN0000: \u2502 other@npm:1.0.0 STDERR getaddrinfo ENOTFOUND elsewhere.example.com',
      `\u27a4 YN0000: \u2502 sharp@npm:0.32.6 STDERR ${NOT_FOUND}`,
      "\u27a4 YN0009: \u2502 sharp@npm:0.32.6 couldn't be built successfully (exit code 1, logs can be found here: /tmp/x)",
    ],
  ],
  [
    'bun',
    'sharp',
    'github.com',
    'bun add sharp@latest',
    [DOWNLOADING, NOT_FOUND, 'error: install script from "sharp" exited with 1'],
  ],
  [
    'npm, of a repository',
    'is-odd',
    'github.com',
    null,
    [
      'npm error command git --no-replace-objects ls-remote ssh://git@github.com/jonschlinkert/is-odd.git',
      'npm error ssh: Could not resolve hostname github.com: Name or service not known',
    ],
  ],
  [
    'uv',
    'flask',
    'github.com',
    null,
    [
      '  \u00d7 Failed to download and build `flask @ git+https://github.com/pallets/flask@main`',
      "      fatal: unable to access 'https://github.com/pallets/flask/': Could not resolve host: github.com",
    ],
  ],
  [
    'Cargo',
    'ext',
    'github.com',
    null,
    [
      'error: failed to get `ext` as a dependency of package `shop v0.1.0 (/srv/code)`',
      '  failed to resolve address for github.com: Name or service not known; class=Net (12)',
    ],
  ],
  [
    'Go',
    'github.com/gin-gonic/gin',
    'proxy.golang.org',
    null,
    [
      'go: github.com/gin-gonic/gin@v1.10.0: Get "https://proxy.golang.org/x.mod": dial tcp: lookup proxy.golang.org: no such host',
    ],
  ],
  [
    'Bundler',
    'nokogiri',
    'rubygems.org',
    null,
    [
      'Could not reach host rubygems.org. Check your network connection and try again.',
      'An error occurred while installing nokogiri (1.15.4), and Bundler cannot continue.',
    ],
  ],
  [
    'Composer',
    'monolog/monolog',
    'api.github.com',
    null,
    [
      '    Failed to download monolog/monolog from dist: curl error 6 while downloading https://api.github.com/x: Could not resolve host: api.github.com',
    ],
  ],
];

it.each(PRINTED)('knows from what %s prints which package it was, and which host', (_, name, host, update, lines) => {
  expect(lookedAt(lines).trouble).toEqual({ package: name, host, update });
});

it('knows a package whose installation fails for something else', () => {
  const lines = [
    'npm error path /srv/code/node_modules/canvas',
    'npm error command failed',
    'npm error not found: make',
  ];
  expect(lookedAt(lines).trouble).toEqual({ package: 'canvas', host: null, update: 'npm install canvas@latest' });
});

it.each([
  ['a script of the app itself', ['npm error path /srv/code', 'npm error command failed']],
  ['what npm says of a package that is not there', ['npm error code E404', 'npm error path /srv/node_modules/x']],
  ['its own database', ['Error: connect ECONNREFUSED 127.0.0.1:5432', 'Error: getaddrinfo ENOTFOUND db']],
])('takes %s for no package, and no host', (_, lines) => {
  const { trouble, host } = lookedAt(lines);
  expect([trouble, host]).toEqual([null, null]);
});

it('is said in the message, and what to do beside it', () => {
  const advice = new Advice();
  for (const line of PRINTED[0]?.[4] ?? []) advice.look(line);
  expect(advice.cause).toBe('the installation of sharp fetches from github.com, which this server does not reach');
  expect(advice.text).toMatch(
    /^This is no fault of the code\..*npm install sharp@latest.*let the server reach github\.com/,
  );
});
