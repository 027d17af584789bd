import { satisfies } from 'semver';
import { expect, it } from 'vitest';
import { askedRange } from './versions.ts';

it.each([
  ['3', ['3.9.1', '3.13.0'], ['2.7.18', '4.0.0']],
  ['3.12', ['3.12.0', '3.12.9'], ['3.11.9', '3.13.0']],
  ['3.12.1', ['3.12.1', '3.12.9'], ['3.11.9', '3.13.0']],
  ['==3.11.*', ['3.11.2'], ['3.12.0']],
  ['>=3.10,<3.13', ['3.10.0', '3.12.8'], ['3.9.9', '3.13.0']],
  ['>= 3.9, != 3.10.1', ['3.9.0', '3.14.0'], ['3.8.0']],
  ['~=3.10', ['3.10.0', '3.14.0'], ['3.9.0', '4.0.0']],
  ['~=3.10.2', ['3.10.9'], ['3.10.1', '3.11.0']],
  ['^3.11', ['3.11.0', '3.13.0'], ['3.10.0', '4.0.0']],
  ['~3.9 || ~3.11', ['3.9.1', '3.11.2'], ['3.10.0']],
])('reads %s', (text, fit, unfit) => {
  const range = askedRange(text) ?? 'none';
  expect([...fit, ...unfit].filter((version) => satisfies(version, range))).toEqual(fit);
});

it.each(['pypy3.9-7.3', '3.13-dev', 'my-env', '', '>=three'])('does not understand %j', (text) => {
  expect(askedRange(text)).toBeNull();
});
