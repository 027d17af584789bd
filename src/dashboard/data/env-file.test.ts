import { expect, it } from 'vitest';
import { changesOf, readEnvFile } from './env-file.ts';

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
  expect(Object.fromEntries(readEnvFile(text))).toEqual({
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
  ['A=1\nsecret-without-a-name', 'Line 2 is not NAME=VALUE.'],
  ['A="1', 'Line 1 opens a quote that has no end.'],
  ['\nA="1" 2', 'Line 2 has text behind the quoted value.'],
  ['A=1\nA=2', 'Line 2 gives A a second time.'],
])('refuses %j without repeating it', (text, message) => {
  expect(() => readEnvFile(text)).toThrow(message);
});

it('says what sending them would change, and whom it would be shown to', () => {
  const now = [
    { name: 'A', value: '1', public: true },
    { name: 'B', value: '2', public: true },
    { name: 'D', value: '4', public: false },
  ];
  const wanted = new Map(Object.entries({ A: '1', B: '3', C: '', D: '4' }));
  const kinds = (isPublic: boolean) => changesOf(now, wanted, isPublic).map(({ kind }) => kind);
  expect(kinds(true)).toEqual(['same', 'changed', 'new', 'public from now on']);
  expect(kinds(false)).toEqual(['private from now on', 'private from now on', 'new', 'same']);
});
