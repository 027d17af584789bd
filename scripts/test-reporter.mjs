/**
 * Counts the tests of each file for scripts/test.mjs, and collects why tests were skipped. What has failed, and files that are at their end, are
 * written at once: a run that is interrupted reports nothing any more.
 */
import { renameSync, writeFileSync } from 'node:fs';

export default class TestReporter {
  #files = new Map();

  onTestCaseResult(test) {
    if (test.result().state === 'failed') this.#note(test.module);
  }

  onTestModuleEnd(module) {
    this.#note(module);
  }

  onTestRunEnd(modules, unhandledErrors) {
    write({ isWhole: true, files: modules.map(countsOf), unhandled: unhandledErrors.length });
  }

  #note(module) {
    this.#files.set(module.id, countsOf(module));
    write({ isWhole: false, files: [...this.#files.values()], unhandled: 0 });
  }
}

function write(result) {
  const file = process.env.TANCHO_TEST_RESULT;
  writeFileSync(`${file}.new`, JSON.stringify(result));
  renameSync(`${file}.new`, file);
}

function countsOf(module) {
  const counts = { file: module.relativeModuleId, passed: 0, failed: 0, skipped: [] };
  for (const test of module.children.allTests()) {
    const { state, note } = test.result();
    if (state === 'passed') counts.passed += 1;
    else if (state === 'failed') counts.failed += 1;
    else {
      const name = `${module.relativeModuleId} > ${test.fullName}`;
      counts.skipped.push({ name, reason: reasonOf(test, state, note) });
    }
  }
  // A file that does not load has no tests to fail.
  if (module.state() === 'failed' && counts.failed === 0) counts.failed = 1;
  return counts;
}

function reasonOf(test, state, note) {
  const { skipReason } = test.meta();
  if (note || skipReason) return note || skipReason;
  if (test.options.mode === 'todo') return 'not written yet';
  return state === 'pending' ? 'did not run' : 'no reason is given';
}
