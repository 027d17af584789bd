import { describe, expect, it } from 'vitest';
import { BuildOutput, TerminalLines } from './output.ts';
import { processorMs } from '../../../../../test/support/processor-ms.ts';

function split(...chunks: (string | Uint8Array)[]): string[] {
  const lines: string[] = [];
  const splitter = new TerminalLines((line) => lines.push(line));
  for (const chunk of chunks) splitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  splitter.end();
  return lines;
}

describe('LineSplitter', () => {
  it('joins what arrives in pieces, also within a character', () => {
    const bytes = Buffer.from('caf\u00e9\nend');
    expect(split(bytes.subarray(0, 4), bytes.subarray(4))).toEqual(['caf\u00e9', 'end']);
  });

  it('keeps the last state of a progress line', () => {
    expect(split('10%\r50%\r', '100%\nnext\r\n')).toEqual(['100%', 'next']);
    expect(split('10%\r50%\r\n')).toEqual(['50%']);
  });

  it('does not grow with a line that never ends', () => {
    const many = Array.from({ length: 100 }, () => 'x'.repeat(10_000));
    expect(split(...many)[0]?.length).toBeLessThanOrEqual(64 * 1024 + 10_000);
  });

  it('is not held up by a line of carriage returns', () => {
    const begun = processorMs();
    expect(split(`${'\r'.repeat(200_000)}a\n`)).toEqual(['a']);
    expect(processorMs() - begun).toBeLessThan(60_000);
  });
});

describe('BuildOutput', () => {
  it('keeps the last fifty lines, cut and clean', () => {
    const lines: string[] = [];
    const output = new BuildOutput((line) => lines.push(line), ['top-secret']);
    for (let index = 0; index < 60; index += 1) output.printed(`line ${index}`);
    output.printed('\u001b[31mred\u001b[0m \u0007\u009b\u202etop-secret  ');
    output.printed('y'.repeat(5000));
    expect(output.tail).toHaveLength(50);
    expect(output.tail.at(-2)).toBe('red ***');
    expect(output.tail.at(-1)).toHaveLength(4096 + 4);
    expect(lines).toHaveLength(62);
    output.begin();
    expect(output.tail).toEqual([]);
  });

  it('stops showing lines after a bound, but knows the last ones', () => {
    const lines: string[] = [];
    const output = new BuildOutput((line) => lines.push(line), []);
    for (let index = 0; index < 20_100; index += 1) output.printed(String(index));
    expect(lines).toHaveLength(20_001);
    expect(lines.at(-1)).toMatch(/not shown/);
    expect(output.tail.at(-1)).toBe('20099');
  });

  it('is not kept busy by who prints without end, and knows the last words all the same', () => {
    const secrets = Array.from({ length: 200 }, (_, at) => `secret-${at}-of-the-app`);
    const output = new BuildOutput(() => {}, secrets);
    for (let index = 0; index < 20_000; index += 1) output.printed('short');
    const begun = processorMs();
    for (let index = 0; index < 2_000_000; index += 1) output.printed(`${index} and so on, a line as long as usual`);
    output.printed('YN0028: secret-7-of-the-app');
    expect(output.advice).toMatch(/yarn\.lock/);
    expect(output.tail.slice(-2)).toEqual(['1999999 and so on, a line as long as usual', 'YN0028: ***']);
    expect(processorMs() - begun).toBeLessThan(10_000);
  });
});
