/** Counts the tests for scripts/test.mjs, and collects why tests were skipped. */
import { writeFileSync } from 'node:fs';

export default class TestReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const result = { passed: 0, failed: unhandledErrors.length, skipped: [] };
    for (const file of modules) {
      let failedHere = 0;
      for (const test of file.children.allTests()) {
        const { state, note } = test.result();
        if (state === 'passed') result.passed += 1;
        else if (state === 'failed') failedHere += 1;
        else
          result.skipped.push({
            name: `${file.relativeModuleId} > ${test.fullName}`,
            reason: reasonOf(test, state, note),
          });
      }
      // A file that does not load has no tests to fail.
      if (file.state() === 'failed' && failedHere === 0) failedHere = 1;
      result.failed += failedHere;
    }
    writeFileSync(process.env.TANCHO_TEST_RESULT, JSON.stringify(result));
  }
}

function reasonOf(test, state, note) {
  if (note) return note;
  if (test.options.mode === 'todo') return 'not written yet';
  return state === 'pending' ? 'did not run' : 'no reason is given';
}
