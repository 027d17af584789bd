import { expect, it } from 'vitest';
import { envFileValue, readEnvFile } from './env-file.ts';

it('reads what people write into such files', () => {
  const text = [
    '\ufeff# comment',
    '',
    'A=1',
    'export B = two words # and no comment',
    'C="x \\"y\\"\\nz"',
    "D='one",
    "two'  # comment",
    'E=',
    'F=a=b\r',
    'G="-----BEGIN',
    'KEY-----"',
    'H="\\$5 \\d"',
  ].join('\n');
  expect(Object.fromEntries(readEnvFile(text, '.env'))).toEqual({
    A: '1',
    B: 'two words # and no comment',
    C: 'x "y"\nz',
    D: 'one\ntwo',
    E: '',
    F: 'a=b',
    G: '-----BEGIN\nKEY-----',
    H: '$5 \\d',
  });
});

it.each([
  ['A=1\nsecret-without-a-name', 'f line 2 is not KEY=VALUE.'],
  ['A="1', 'f line 1: the quoted value has no end.'],
  ['\nA="1" 2', 'f line 2: there is text behind the quoted value.'],
  ['A=1\nA=2', 'f line 2: A is given twice.'],
  ['# nothing\n', 'f has no variables.'],
])('refuses %j without repeating it', (text, message) => {
  expect(() => readEnvFile(text, 'f')).toThrow(message);
});

it.each(['plain', '', 'a"b', '"quoted"', ' blank ', 'two\nlines\r\n', 'back\\slash', '\\n\n"x"', "it's", "'"])(
  'reads back %j',
  (value) => {
    expect(readEnvFile(`X=${envFileValue(value)}\n`, 'f').get('X')).toBe(value);
  },
);
