/**
 * `npm test`: makes a clone ready, checks the types, runs every test once; arguments go to vitest (for example a path).
 * With TANCHO_TEST_SLOW=1 also what takes long: the files *.long.test.ts, and longer forms of some others.
 * With TANCHO_TEST_AGAIN=1 the files of a few failures run once more, alone; what then passes is named as unsteady.
 */
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alone, checkTools, checkTypes, ensureBuilt, ensureInstalled, root, tellAndExit } from './prepare.mjs';

/** More failures than these are no accident. */
const MOST_AGAIN = 5;

try {
  checkTools();
  await alone(async () => {
    await ensureInstalled();
    await checkTypes();
    await ensureBuilt({ isChecked: true });
  });
} catch (error) {
  tellAndExit(error);
}

const folder = mkdtempSync(join(tmpdir(), 'tancho-test-'));
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts', 'test-reporter.mjs')}`];
// The terminal sends Ctrl-C to vitest too, which then ends by itself.
process.on('SIGINT', () => {});

/** Answers the counts of each file, and how many errors there were outside of every test. */
async function runTests(args) {
  const resultFile = join(folder, 'result.json');
  rmSync(resultFile, { force: true });
  const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...args], {
    cwd: root,
    // TANCHO_TEST_RUN: where what several files need is kept until the end.
    env: {
      ...process.env,
      TANCHO_TEST_RESULT: resultFile,
      TANCHO_TEST_DIST: join(root, 'dist'),
      TANCHO_TEST_RUN: folder,
    },
    stdio: 'inherit',
  });
  const exitCode = await new Promise((resolve) => {
    child.once('error', () => resolve(1));
    child.once('close', (code) => resolve(code ?? 1));
  });
  try {
    return { exitCode, ...JSON.parse(readFileSync(resultFile, 'utf8')) };
  } catch {
    console.log('The tests did not come to their end.');
    return { exitCode: 1, files: [], unhandled: 0 };
  }
}

const run = await runTests(process.argv.slice(2));
const failed = run.files.filter((file) => file.failed > 0);
if (process.env.TANCHO_TEST_AGAIN === '1' && run.unhandled === 0 && failed.length > 0 && failed.length <= MOST_AGAIN) {
  const again = await runTests(['--no-file-parallelism', ...failed.map(({ file }) => file)]);
  run.exitCode = again.exitCode;
  run.unhandled = again.unhandled;
  for (const counts of again.files) {
    const at = run.files.findIndex(({ file }) => file === counts.file);
    if (at < 0) continue;
    if (counts.failed === 0) console.log(`unsteady: ${counts.file} failed beside others and passes alone`);
    run.files[at] = counts;
  }
}
rmSync(folder, { recursive: true, force: true });

const sum = (key) => run.files.reduce((total, file) => total + file[key], 0);
const skipped = run.files.flatMap((file) => file.skipped);
// An error outside of every test, or a run without any test, is a failure as well.
const failures = sum('failed') + run.unhandled || (run.exitCode === 0 ? 0 : 1);
if (process.env.TANCHO_TEST_SLOW !== '1') {
  const long = globSync('{src,test,bench}/**/*.long.test.ts', { cwd: root });
  console.log(
    `left out: what takes long, in ${long.length} files (*.long.test.ts); TANCHO_TEST_SLOW=1 runs everything`,
  );
}
for (const { name, reason } of skipped) console.log(`skipped: ${name}: ${reason}`);
console.log(`${sum('passed')} passed, ${failures} failed${skipped.length === 0 ? '' : `, ${skipped.length} skipped`}`);
process.exit(failures === 0 ? 0 : 1);
