import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { printable, printableJson, printableOutput, shownOn } from './output.ts';

const ESC = '\u001b';
/** Moves the cursor, sets the title, clears the screen, turns what follows, ends the line elsewhere. */
const STEERING = [
  `${ESC}[2J`,
  `${ESC}[1A`,
  `${ESC}]0;title\u0007`,
  '\u009b2J',
  '\u202e',
  '\u2066',
  '\u200f',
  '\u061c',
  '\u2028',
  '\b',
  '\r',
];
const DANGEROUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

it('neither names nor output steer a terminal', () => {
  for (const steering of STEERING) {
    const text = `a${steering}b`;
    for (const shown of [printable(text), printableOutput(text)])
      expect(shown, JSON.stringify(text)).not.toMatch(DANGEROUS);
  }
  expect(printable('naïve 🦩\tשלום\n')).toBe('naïve 🦩\tשלום\n');
});

it('colours of output stay on a terminal, end with it, and go elsewhere', () => {
  const red = `${ESC}[31mred`;
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  expect(shownOn(terminal, red)).toBe(`${red}${ESC}[0m`);
  expect(shownOn(terminal, `${red}${ESC}[0m`)).toBe(`${red}${ESC}[0m`);
  expect(shownOn(new PassThrough(), red)).toBe('red');
});

it('output is left as a terminal shows it in the end', () => {
  expect(printableOutput(`10%\r20%\r${ESC}[2K30%\r\n${ESC}]0;title\u0007done${ESC}[1A\r\n`)).toBe('30%\ndone\n');
  expect(printableOutput(`10%\r${ESC}[32m100%${ESC}[0m\r`)).toBe(`${ESC}[32m100%${ESC}[0m`);
  expect(printableOutput(`${ESC}]8;;https://example.com${ESC}\\link${ESC}]8;;${ESC}\\`)).toBe('link');
});

it('JSON keeps every character, and steers nothing', () => {
  for (const steering of STEERING) {
    const json = printableJson(JSON.stringify({ name: `a${steering}b` }, null, 2));
    expect(json).not.toMatch(DANGEROUS);
    expect(JSON.parse(json)).toEqual({ name: `a${steering}b` });
  }
});
