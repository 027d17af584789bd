/** `npm run bench`: makes a clone ready, compiles the benchmarks beside the program, runs them; arguments go to them. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { alone, checkTools, compile, ensureBuilt, ensureInstalled, root, reportAndExit } from './prepare.mjs';

try {
  checkTools();
  await alone(async () => {
    await ensureInstalled();
    await ensureBuilt();
    await compile('Building the benchmarks', 'tsconfig.bench.json');
  });
} catch (error) {
  reportAndExit(error);
}

const main = join(root, 'dist', '.bench', 'bench', 'main.js');
const child = spawn(process.execPath, [main, ...process.argv.slice(2)], {
  cwd: root,
  env: { ...process.env, TANCHO_TEST_DIST: join(root, 'dist') },
  stdio: 'inherit',
});
// The terminal sends Ctrl-C to the benchmarks too, which then clean up and end by themselves.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.once('error', reportAndExit);
child.once('close', (code) => process.exit(code ?? 1));
