/**
 * Counts the tests of each file for scripts/test.mjs, and collects why tests failed or were skipped. What has failed, and files that are at their end, are
 * written at once: a run that is interrupted reports nothing any more. At TANCHO_TEST_CUT, in milliseconds since 1970, it begins no more tests:
 * those that run are cut off, take down what they have started, and are skipped like all that are left. SIGUSR2 interrupts in the same way.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

const NOT_RUN = 'did not run';
/** As vitest says it. */
const CUT_OFF = 'The test run was aborted by the user.';
/** Of an error's text, in characters, and of one file's failures. */
const LONGEST_TEXT = 1_500;
const MOST_NAMED = 5;

const LOOK_MS = 1_000;
/** As in scripts/test.mjs. */
const TAKING_DOWN_MS = 60_000;

export default class TestReporter {
  #files = new Map();
  #timer;
  /** Of the time before it was cut; null: it was not. */
  #unhandled = null;
  #isInterrupted = false;

  onInit(vitest) {
    const interrupt = () => {
      this.#isInterrupted = true;
      void vitest.cancelCurrentRun('keyboard-input');
    };
    process.on('SIGUSR2', interrupt);
    // This process has a session of its own, so what kills the runner with its process group does not kill this one.
    const runner = process.ppid;
    const watch = setInterval(() => {
      if (process.ppid === runner) return;
      clearInterval(watch);
      interrupt();
      setTimeout(() => process.kill(-process.pid, 'SIGINT'), TAKING_DOWN_MS).unref();
    }, LOOK_MS).unref();
    const end = Number(process.env.TANCHO_TEST_CUT ?? 0);
    if (end === 0) return;
    const cut = () => {
      this.#unhandled = vitest.state.getUnhandledErrors().length;
      void vitest.cancelCurrentRun('test-failure');
    };
    this.#timer = setTimeout(cut, Math.max(0, end - Date.now()));
  }

  onTestCaseResult(test) {
    if (test.result().state === 'failed') this.#note(test.module);
  }

  onTestModuleEnd(module) {
    this.#note(module);
  }

  onTestRunEnd(modules, unhandledErrors) {
    clearTimeout(this.#timer);
    const isCut = this.#unhandled !== null;
    const files = modules.map((module) => (isCut ? cutCountsOf(module) : countsOf(module)));
    write({ isWhole: !this.#isInterrupted, isCut, files, unhandled: this.#unhandled ?? unhandledErrors.length });
  }

  #note(module) {
    this.#files.set(module.id, countsOf(module));
    write({ isWhole: false, isCut: false, files: [...this.#files.values()], unhandled: 0 });
  }
}

function write(result) {
  const file = process.env.TANCHO_TEST_RESULT;
  writeFileSync(`${file}.new`, JSON.stringify(result));
  renameSync(`${file}.new`, file);
}

function countsOf(module) {
  const counts = { file: module.relativeModuleId, passed: 0, failed: 0, failures: [], skipped: [] };
  for (const test of module.children.allTests()) {
    const { state, note, errors } = test.result();
    const name = `${module.relativeModuleId} > ${test.fullName}`;
    if (state === 'passed') counts.passed += 1;
    else if (state === 'failed') addFailure(counts, name, errors);
    else counts.skipped.push({ name, reason: reasonOf(test, state, note) });
  }
  // A file that does not load has no tests to fail.
  if (module.state() === 'failed' && counts.failed === 0) addFailure(counts, module.relativeModuleId, module.errors());
  return counts;
}

function addFailure(counts, name, errors = []) {
  counts.failed += 1;
  if (counts.failures.length === MOST_NAMED) return;
  const text = errors.map(({ message }) => stripVTControlCharacters(String(message))).join('\n');
  counts.failures.push({ name, text: middleLeftOut(text) });
}

/** What was expected stands at the end of a text, what was done at its beginning. */
function middleLeftOut(text) {
  if (text.length <= LONGEST_TEXT) return text;
  return `${text.slice(0, LONGEST_TEXT / 2)}\n...\n${text.slice(-LONGEST_TEXT / 2)}`;
}

/** What a cut has kept from running, as one. */
function cutCountsOf(module) {
  const counts = countsOf(module);
  const ran = counts.skipped.filter(({ reason }) => reason !== NOT_RUN && reason !== CUT_OFF);
  const isPart = ran.length < counts.skipped.length;
  const isNone = !isPart && counts.passed + counts.failed + ran.length === 0;
  if (!isPart && !isNone) return counts;
  const reason = `no time is left for ${isPart ? 'all of it' : 'it'}`;
  return { ...counts, skipped: [...ran, { name: module.relativeModuleId, reason }] };
}

function reasonOf(test, state, note) {
  const { skipReason } = test.meta();
  if (note || skipReason) return note || skipReason;
  if (test.options.mode === 'todo') return 'not written yet';
  return state === 'pending' ? NOT_RUN : 'no reason is given';
}
