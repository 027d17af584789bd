/**
 * Installs what processes run by npx and no package brings, so that no start of a unit has to fetch it. Arguments: the directory of the
 * app, and the packages as npx is given them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const PREFIX = '.tancho/npx';
const [directory, ...specs] = process.argv.slice(2);

/** `@scope/name@1.2` -> `name`. */
const programOf = (spec) =>
  spec
    .replace(/(?<=.)@[^/]*$/, '')
    .split('/')
    .at(-1);
const isThere = (program) => [directory, '.'].some((place) => existsSync(join(place, 'node_modules', '.bin', program)));

const missing = specs.filter((spec) => !isThere(programOf(spec)));
if (missing.length > 0) {
  console.log(`npx runs ${missing.join(', ')}, which no package brings: installed for it`);
  execFileSync('npm', ['install', '--global', '--prefix', join(process.cwd(), PREFIX), ...missing], {
    stdio: 'inherit',
  });
}
