import { expect, it } from 'vitest';
import { stepFailure } from './failures.ts';

const ENDED = { code: 1, signal: null, outOfMemory: false };

it.each([
  [['Download x', "error: npm package '@a/b' does not exist."], `: npm package '@a/b' does not exist.`],
  [['error: first', 'fatal: second', ''], ': second.'],
  [
    [
      '[ERROR] Failed to execute goal on project a: Could not find artifact b:c:jar:1 in central',
      '[ERROR] ',
      '[ERROR] x',
    ],
    ': Failed to execute goal on project a: Could not find artifact b:c:jar:1 in central.',
  ],
  [['no error: here', 'warning: nothing'], '.'],
])('the summary of a step that failed has what %j reports', (tail, end) => {
  const { message } = stepFailure('deno install', ENDED, { tail, advice: null, cause: null }, 0);
  expect(message).toBe(`The step "deno install" failed with exit code 1${end}`);
});
