import { expect, it } from 'vitest';
import { checkCname } from './cname.ts';

const PLATFORM = { domain: 'apps.example.com', apiDomain: 'tancho.example.net' };

it('no app gets a name of the platform, wherever its API answers', () => {
  expect(checkCname('WWW.example.net.', PLATFORM)).toBe('www.example.net');
  for (const name of ['tancho.example.net', '*.tancho.example.net', 'x.apps.example.com', 'apps.example.com'])
    expect(() => checkCname(name, PLATFORM), name).toThrow('Invalid cname');
});
