/** Counts the tests of each file for scripts/test.mjs, and collects why tests were skipped. */
import { writeFileSync } from 'node:fs';

export default class TestReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const files = modules.map((module) => countsOf(module));
    writeFileSync(process.env.TANCHO_TEST_RESULT, JSON.stringify({ files, unhandled: unhandledErrors.length }));
  }
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
