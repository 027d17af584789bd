import { expect, it } from 'vitest';
import { processorMs } from '../../../../../test/support/processor-ms.ts';
import { Advice } from './advice.ts';

function adviceFor(...lines: string[]): string | null {
  const advice = new Advice();
  for (const line of lines) advice.look(line);
  return advice.text;
}

it.each([
  [
    'npm error `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync.',
    /^package-lock\.json does not fit/,
  ],
  ['error Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`.', /^yarn\.lock/],
  ['YN0028: The lockfile would have been modified by this install, which is explicitly forbidden.', /^yarn\.lock/],
  ['ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile"', /^pnpm-lock\.yaml/],
  ['sharp: Installation error: getaddrinfo ENOTFOUND github.com', /could not find the address.*no fault of the code/],
  ['npm error code ENOTFOUND', /could not find the address.*no fault of the code/],
  [
    'Failed to establish a new connection: [Errno -3] Temporary failure in name resolution',
    /could not find the address.*no fault of the code/,
  ],
  [
    'dial tcp: lookup proxy.golang.org on 127.0.0.53:53: no such host',
    /could not find the address.*no fault of the code/,
  ],
  [
    'Could not reach host index.rubygems.org. Check your network connection and try again.',
    /could not find the address.*no fault of the code/,
  ],
  [
    'Exception in thread "main" java.net.UnknownHostException: services.gradle.org',
    /could not find the address.*no fault of the code/,
  ],
  ['npm error code ECONNREFUSED', /could not reach.*no fault of the code/],
  ['  cause: client error (Connect)', /could not reach.*no fault of the code/],
  ['dial tcp 142.250.1.1:443: i/o timeout', /could not reach.*no fault of the code/],
  ['Failed to fetch `Geist` from Google Fonts.', /fonts in the app/],
  [
    'request to https://fonts.googleapis.com/css2?family=Inter failed, reason: getaddrinfo ENOTFOUND fonts.googleapis.com',
    /fonts in the app/,
  ],
  ['    [cause]: Error: getaddrinfo ENOTFOUND fonts.googleapis.com', /fonts in the app/],
  ['Error: getaddrinfo ENOTFOUND api.example.com', /It asked api\.example\.com, which this server does not reach/],
  ['npm error code SELF_SIGNED_CERT_IN_CHAIN', /certificate.*no fault of the code/],
  ['go: download go1.99.0: golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64: not found', /lines "go" and "toolchain"/],
  [
    'frontend/assets.go:11:12: pattern dist/*: no matching files found',
    /^frontend\/assets\.go takes dist\/\* into the program, .*git add -f/,
  ],
  ["  code: 'ERR_OSSL_EVP_UNSUPPORTED'", /"node": "16".*--openssl-legacy-provider/],
  ['Error: error:0308010C:digital envelope routines::unsupported', /"node": "16"/],
  [
    'Alternatively, you can run Composer with `--ignore-platform-req=ext-xml --ignore-platform-req=ext-curl` to temporarily ignore these required extensions.',
    /^Packages need extensions of PHP .*\(xml, curl\).*\(apt-get install -y php-xml php-curl\)/,
  ],
  ['npm error code E503', /out of order/],
  ['npm error code E404', /^A package is not there.*\(\$\{NPM_TOKEN\}\)/],
  ['npm error 404 Not Found - GET https://registry.npmjs.org/@me%2ftools - Not found', /^@me\/tools is not there/],
  ['npm error 404 Not Found - GET https://registry.npmjs.org/@me%2ftools', /^@me\/tools is not there/],
  ['[ERR_PNPM_FETCH_404] GET https://registry.npmjs.org/nope: Not Found - 404', /^nope is not there/],
  [' ERR_PNPM_FETCH_404  GET https://registry.npmjs.org/@me%2Ftools: Not Found - 404', /^@me\/tools is not there/],
  ['error Couldn\'t find package "@me/tools" on the "npm" registry.', /^@me\/tools is not there.*\.npmrc/],
  ['➤ YN0035: │ @me/tools@npm:1.0.0: Package not found', /^@me\/tools is not there.*\.yarnrc\.yml/],
  ['➤ YN0035: │   Response Code: 404 (Not Found)', /^A package is not there/],
  ['npm error notarget No matching version found for x@^20.3.43.', /^No version of a package fits/],
  ['npm error fatal: Could not read from remote repository.', /https address/],
  [
    '  cause: Because the current Python version (3.11.2) does not satisfy Python>=3.12 and you require django==6.1, we can conclude that your requirements are unsatisfiable.',
    /needs Python 3\.12 or newer\. Write 3\.12 into a file named \.python-version/,
  ],
  [
    'ERROR: Ignored the following versions that require a different python version: 6.0 Requires-Python >=3.12; 6.1 Requires-Python >=3.12',
    /Write 3\.12 into/,
  ],
  ['The following environment variables are not defined:', /tancho env set -p NAME=/],
  ['Invalid environment variables: { AUTH_SECRET: [ "Required" ] }', /tancho env set -p NAME=/],
  ['Error: Environment variable not found: DATABASE_URL.', /tancho env set -p DATABASE_URL=/],
  ["KeyError: 'PGDATABASE'", /tancho env set -p PGDATABASE=/],
  ['django.core.exceptions.ImproperlyConfigured: Set the SECRET_KEY environment variable', /-p SECRET_KEY=/],
  ['decouple.UndefinedValueError: SECRET_KEY not found. Declare it as envvar.', /-p SECRET_KEY=/],
  ['ERROR: No matching distribution found for nope==9', /version of Python/],
  ['  cause: Because there is no version of nope==9 and you require nope==9', /version of Python/],
  ['Because nope was not found in the package registry and you require nope', /version of Python/],
])('knows what to do about: %s', (line, expected) => {
  expect(adviceFor('before', line, 'after')).toMatch(expected);
});

it('takes the particular one, and none for what it does not know', () => {
  // What follows from a registry that was not reached is not the cause.
  const unreached = adviceFor('ERROR: No matching distribution found for flask', 'Could not resolve host: pypi.org');
  expect(unreached).toMatch(/no fault of the code/);
  expect(adviceFor('npm error code E404', 'npm error code ERESOLVE')).toMatch(/^Packages want/);
  // The app's own build asks for its database.
  expect(adviceFor('Error: connect ECONNREFUSED 127.0.0.1:5432')).toBeNull();
  expect(adviceFor('npm error code ELIFECYCLE', 'x is not in sync with y')).toBeNull();
  // What a build only mentions is not what it failed for.
  expect(adviceFor('https://fonts.googleapis.com/css2?family=Inter is left as it is', 'error TS2322')).toBeNull();
  expect(adviceFor('warning: the environment variable SENTRY_DSN is not set', 'error TS2322')).toBeNull();
});

it('a build that prints lines which take long to look at holds nobody up for ever', () => {
  const begun = processorMs();
  const line = `x YN0000: YN0009: ${'a'.repeat(3_900)}`;
  adviceFor(...Array.from({ length: 3_000 }, () => line));
  expect(processorMs() - begun).toBeLessThan(10_000);
});
