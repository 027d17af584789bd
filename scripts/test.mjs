/** `npm test`: makes a clone ready, checks the types, runs every test once; arguments go to vitest (for example a path). */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alone, checkTools, checkTypes, ensureBuilt, ensureInstalled, root, tellAndExit } from './prepare.mjs';

try {
  checkTools();
  await alone(async () => {
    await ensureInstalled();
    await checkTypes();
    await ensureBuilt();
  });
} catch (error) {
  tellAndExit(error);
}

const folder = mkdtempSync(join(tmpdir(), 'tancho-test-'));
const resultFile = join(folder, 'result.json');
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts', 'test-reporter.mjs')}`];
const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...process.argv.slice(2)], {
  cwd: root,
  env: { ...process.env, TANCHO_TEST_RESULT: resultFile, TANCHO_TEST_DIST: join(root, 'dist') },
  stdio: 'inherit',
});
// The terminal sends Ctrl-C to vitest too, which then ends by itself.
process.on('SIGINT', () => {});
const exitCode = await new Promise((resolve) => {
  child.once('error', () => resolve(1));
  child.once('close', (code) => resolve(code ?? 1));
});

let result = { passed: 0, failed: 0, skipped: [] };
try {
  result = JSON.parse(readFileSync(resultFile, 'utf8'));
} catch {
  console.log('The tests did not come to their end.');
}
rmSync(folder, { recursive: true, force: true });

// An error outside of every test, or a run without any test, is a failure as well.
if (exitCode !== 0 && result.failed === 0) result.failed = 1;
for (const { name, reason } of result.skipped) console.log(`skipped: ${name}: ${reason}`);
const skipped = result.skipped.length === 0 ? '' : `, ${result.skipped.length} skipped`;
console.log(`${result.passed} passed, ${result.failed} failed${skipped}`);
process.exit(result.failed === 0 && exitCode === 0 ? 0 : 1);
