/**
 * `npm test`: makes a clone ready, and runs every test once while it checks the types; arguments go to vitest (for example a path).
 * With TANCHO_TEST_SLOW=1 also what takes long: the files *.long.test.ts, and longer forms of some others.
 * With TANCHO_TEST_CLUSTER=1 the scenarios of vitest.config.ts run once more, in a real Kubernetes cluster on this machine; by TANCHO_TEST_END,
 * in seconds since 1970, they are ended; what came before them is cut off in time for them.
 * With TANCHO_TEST_CHAOS=1 nothing but chaos.test.ts and edges-on-nodes.test.ts of test/cluster run.
 * With TANCHO_TEST_AGAIN=1 the files of a few failures run once more, alone; what then passes is named as unsteady.
 */
import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alone, checkTools, checkTypes, ensureBuilt, ensureInstalled, root, reportAndExit } from './prepare.mjs';

/** More failures than these are no accident. */
const MOST_AGAIN = 5;
/** In less nothing is begun in a cluster. */
const CLUSTER_LEAST_MS = 240_000;
/** What is kept for the cluster. */
const CLUSTER_MS = 480_000;
/** What has failed has this long for its second turn, however late it is. */
const AGAIN_LEAST_MS = 120_000;
/** What has begun when a run is interrupted has this long to take down what it has started. */
const TAKING_DOWN_MS = 60_000;
const CLUSTER_PART = 'scenarios on a real Kubernetes';

try {
  checkTools();
  await alone(async () => {
    await ensureInstalled();
    await ensureBuilt({ isUnchecked: true });
  });
} catch (error) {
  reportAndExit(error);
}

const folder = mkdtempSync(join(tmpdir(), 'tancho-test-'));
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts', 'test-reporter.mjs')}`];
// Names what keeps a run from ending.
if (process.env.TANCHO_TEST_SLOW === '1') reporters.push('--reporter=hanging-process');

/** Interrupts the tests that run, which take down what they have started; nothing is begun after it. */
let interrupt = () => {};
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    isInterrupted = true;
    interrupt();
  });
}
/** Why the types are wrong; null where they are right, or were not found wrong yet. */
let typeErrors = null;
const types = alone(() => checkTypes({ isQuiet: true })).catch((error) => {
  typeErrors = error;
  interrupt();
});

/**
 * Answers the counts of each file, and how many errors there were outside of every test. Interrupted at `end`: `isWhole` is false then, and the
 * counts are those until then. Cut off at `cut`: `isCut` is true then, and what did not run is skipped. Both in milliseconds since 1970.
 */
async function runTests(args, env = {}, { end = 0, cut = 0 } = {}) {
  const resultFile = join(folder, 'result.json');
  rmSync(resultFile, { force: true });
  const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...args], {
    cwd: root,
    env: {
      ...process.env,
      ...env,
      TANCHO_TEST_RESULT: resultFile,
      TANCHO_TEST_CUT: String(cut),
      TANCHO_TEST_DIST: join(root, 'dist'),
    },
    stdio: 'inherit',
    // Ctrl-C in a terminal goes to a whole process group, and would end the workers before what they have started.
    detached: true,
  });
  let isAsked = false;
  const timers = [];
  // Servers among them end their apps.
  const endAll = () => child.exitCode === null && child.signalCode === null && process.kill(-child.pid, 'SIGINT');
  interrupt = () => {
    if (isAsked) return;
    isAsked = true;
    console.log('Interrupted: what the tests have started is taken down ...');
    child.kill('SIGUSR2');
    timers.push(setTimeout(endAll, TAKING_DOWN_MS));
  };
  if (typeErrors !== null || isInterrupted) interrupt();
  if (end > 0) timers.push(setTimeout(endAll, Math.max(0, end - Date.now())));
  const exitCode = await new Promise((resolve) => {
    child.once('error', () => resolve(1));
    child.once('close', (code) => resolve(code ?? 1));
  });
  timers.forEach(clearTimeout);
  interrupt = () => {};
  const result = existsSync(resultFile)
    ? JSON.parse(readFileSync(resultFile, 'utf8'))
    : { isWhole: false, isCut: false, files: [], unhandled: 0 };
  if (!result.isWhole) console.log('The tests did not come to their end.');
  // That the time was over is no failure; what failed before is.
  if (result.isCut) return { ...result, exitCode: 0 };
  return { ...result, exitCode: result.isWhole ? exitCode : 1 };
}

function later({ end, cut = 0 }) {
  return { end, cut: cut === 0 ? 0 : Math.max(cut, Date.now() + AGAIN_LEAST_MS) };
}

/** As runTests(), and what failed once more, where that is asked for. */
async function runSteadily(args, env, times) {
  const run = await runTests(args, env, times);
  const failed = run.files.filter((file) => file.failed > 0);
  const isFew = failed.length > 0 && failed.length <= MOST_AGAIN;
  if (process.env.TANCHO_TEST_AGAIN !== '1' || !run.isWhole || run.unhandled > 0 || !isFew) return run;
  const again = await runTests(['--no-file-parallelism', ...failed.map(({ file }) => file)], env, later(times));
  // What has failed and had no second turn has failed.
  if (!again.isWhole) return { ...run, isWhole: false };
  if (again.isCut) return run;
  for (const counts of again.files) {
    const at = run.files.findIndex(({ file }) => file === counts.file);
    if (at < 0) continue;
    const first = run.files[at];
    run.files[at] = counts;
    if (counts.failed === 0) counts.unsteady = first.failures;
  }
  return { ...run, exitCode: again.exitCode, unhandled: again.unhandled };
}

/** A sentence where there can be no cluster, or no time is left for it. */
async function runInCluster() {
  const { withoutCluster } = await import('../test/cluster/cluster.ts');
  const { removeLeftovers } = await import('../test/cluster/leftovers.ts');
  const { buildServers } = await import('../test/cluster/program.ts');
  const missing = withoutCluster();
  if (missing !== '') return missing;
  const left = () => (end === 0 ? Infinity : end - Date.now());
  if (left() < CLUSTER_LEAST_MS) return 'no time is left for it';
  const built = await buildServers(left() - CLUSTER_LEAST_MS);
  if (typeof built === 'string') return built;
  const run = await runSteadily([], { TANCHO_TEST_ENGINE: 'kubernetes' }, { end });
  if (run.isWhole) return run;
  // What is interrupted takes nothing down.
  await removeLeftovers(tmpdir());
  if (left() > 0) return run;
  // That the time was over is no failure; what failed before is.
  const reason = 'it was not at its end when the time was over';
  return { ...run, exitCode: 0, files: [...run.files, leftOut(reason)] };
}

/** Of what ran in no cluster. */
function leftOut(reason) {
  return { passed: 0, failed: 0, skipped: [{ name: CLUSTER_PART, reason }] };
}

/** A line for each; files that one reason has left out are on one line. */
function printSkipped(skipped) {
  const files = new Map();
  for (const { name, reason } of skipped) {
    if (name.includes(' ')) console.log(`skipped: ${name}: ${reason}`);
    else files.set(reason, [...(files.get(reason) ?? []), name]);
  }
  for (const [reason, names] of files) console.log(`skipped: ${reason}: ${names.join(', ')}`);
}

function printFailure(kind, { name, text }) {
  console.log(`${kind}: ${name}\n${text.replace(/^/gm, '    ')}`);
}

const args = process.argv.slice(2);
const end = Number(process.env.TANCHO_TEST_END ?? 0) * 1_000;
const isClusterWanted = process.env.TANCHO_TEST_CLUSTER === '1' && args.length === 0;
const run = await runSteadily(args, {}, { cut: isClusterWanted && end > 0 ? end - CLUSTER_MS : 0 });
// Ctrl-C ends the compiler, too.
if (!isInterrupted) await types;
if (!isInterrupted && typeErrors !== null) {
  rmSync(folder, { recursive: true, force: true });
  reportAndExit(typeErrors);
}
if (isClusterWanted && !isInterrupted) {
  const inCluster = await runInCluster();
  if (typeof inCluster === 'string') run.files.push(leftOut(inCluster));
  else {
    run.files.push(...inCluster.files);
    run.unhandled += inCluster.unhandled;
    run.exitCode ||= inCluster.exitCode;
  }
  console.log(
    'left out: several servers whose parts are killed, and nodes whose edges are, which takes a quiet machine; TANCHO_TEST_CHAOS=1 npm test',
  );
} else if (args.length === 0) {
  console.log(
    'left out: scenarios on a real Kubernetes, which TANCHO_TEST_CLUSTER=1 runs; its engine was tested against a small API server of ours',
  );
}
rmSync(folder, { recursive: true, force: true });

const sum = (key) => run.files.reduce((total, file) => total + file[key], 0);
const skipped = run.files.flatMap((file) => file.skipped);
// An error outside of every test, a run without any test, and one that was interrupted are failures as well.
const failures = sum('failed') + run.unhandled || (run.exitCode === 0 && !isInterrupted ? 0 : 1);
if (process.env.TANCHO_TEST_SLOW !== '1') {
  const long = globSync('{src,test,bench}/**/*.long.test.ts', { cwd: root });
  console.log(
    `left out: what takes long, in ${long.length} files (*.long.test.ts) and in cases of others; TANCHO_TEST_SLOW=1 runs everything`,
  );
}
printSkipped(skipped);
// The end of a log is what is kept of it.
for (const { unsteady = [], failures = [] } of run.files) {
  for (const failure of unsteady) printFailure('unsteady, failed beside others and passes alone', failure);
  for (const failure of failures) printFailure('failed', failure);
}
console.log(`${sum('passed')} passed, ${failures} failed${skipped.length === 0 ? '' : `, ${skipped.length} skipped`}`);
process.exit(failures === 0 ? 0 : 1);
