import { expect, it } from 'vitest';
import { failureReport } from './failure-report.ts';

const facts = {
  app: 'shop',
  cause: 'exited',
  message: 'web exited with code 3.',
  hint: 'Look at line 1.',
  lines: ['oops'],
  still: { release: 4, is: 'up' },
  isImage: false,
} as const;

it('says the cause, the last words, what still serves and what to do', () => {
  const text = failureReport(facts).join('\n');
  expect(text).toContain('Deploy failed (exited): web exited with code 3.');
  expect(text).toContain('| oops');
  expect(text).toContain('Look at line 1.');
  expect(text).toContain('Your previous version (release 4) is still serving.');
  expect(text).toContain('tancho app log -a shop');
});

it('does not claim that an older version serves when there is none', () => {
  const none = { release: null, is: 'down' } as const;
  expect(failureReport({ ...facts, still: none }).join('\n')).toContain('Nothing of "shop" serves yet.');
});

it('asks people to fix the code only where nothing better is known', () => {
  expect(failureReport(facts).join('\n')).not.toContain('fix it');
  expect(failureReport({ ...facts, hint: '' }).join('\n')).toContain('Next: fix it, commit, push again.');
});

it.each([
  ['stopped', 'The app stays stopped, with your previous version (release 4).'],
  ['down', 'release 4) is still in place, but none of its units runs'],
] as const)('does not claim that anything serves when the app is %s', (is, says) => {
  const text = failureReport({ ...facts, still: { release: 4, is } }).join('\n');
  expect(text).toContain(says);
  expect(text).not.toContain('still serving');
});

it('does not repeat what a build has just printed', () => {
  expect(failureReport({ ...facts, cause: 'build_failed' }).join('\n')).not.toContain('oops');
});

it('shows at most fifty lines, the last ones', () => {
  const lines = Array.from({ length: 120 }, (_, n) => `line ${n}`);
  const shown = failureReport({ ...facts, lines }).filter((line) => line.includes('| line'));
  expect(shown).toHaveLength(50);
  expect(shown.at(-1)).toContain('line 119');
});
