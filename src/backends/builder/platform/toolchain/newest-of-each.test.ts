import { expect, it } from 'vitest';
import { newestOfEach } from './newest-of-each.ts';

it.each([
  ['of each major one', ['18.1.0', '20.9.0', '20.10.0', '22.0.0-rc.1'], ['18.1.0', '20.10.0']],
  [
    'of each minor one where there is one major',
    ['3.10.2', '3.9.25', '3.9.7', '3.13.0', '3.14.0-a1'],
    ['3.9.25', '3.10.2', '3.13.0'],
  ],
  ['none of what is no version', ['latest', '1.2.3.4', ''], []],
])('people are offered the newest versions, %s', (_what, versions, offered) => {
  expect(newestOfEach(versions, 12)).toEqual(offered);
});

it('they are offered the newest ones of many', () => {
  expect(newestOfEach(['1.0.0', '2.0.0', '10.0.0'], 2)).toEqual(['2.0.0', '10.0.0']);
});
