import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LinePart, LineSplitter, MAX_LINE_BYTES } from './line-splitter.ts';

function split(...parts: (string | Buffer)[]): string[] {
  const splitter = new LineSplitter();
  return textsOf([...parts.flatMap((part) => splitter.push(Buffer.from(part))), ...splitter.flush()]);
}

function textsOf(parts: readonly LinePart[]): string[] {
  return parts.map(({ text }) => text);
}

describe('LineSplitter', () => {
  it('puts lines together from pieces and takes either line end', () => {
    expect(split('on', 'e\ntwo\r\n', '\nrest')).toEqual(['one', 'two', '', 'rest']);
    expect(split('')).toEqual([]);
  });

  it('gives the same lines however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 7 }), (text, size) => {
        const bytes = Buffer.from(text);
        const parts: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size) parts.push(bytes.subarray(at, at + size));
        expect(split(...parts)).toEqual(split(bytes));
      }),
    );
  });

  it('cuts lines that are too long, between characters, without an empty rest', () => {
    const exact = 'x'.repeat(MAX_LINE_BYTES);
    expect(split(`${exact}\nnext\n`)).toEqual([exact, 'next']);
    const wide = '鶴'.repeat(MAX_LINE_BYTES);
    const lines = split(`${wide}\n`);
    expect(lines.join('')).toBe(wide);
    expect(lines).toHaveLength(4);
  });

  it('replaces what is not UTF-8', () => {
    expect(split(Buffer.from([0x61, 0xff, 0x62, 0x0a]))).toEqual(['a\ufffdb']);
  });

  it('ends a line already given out without making an empty one', () => {
    const splitter = new LineSplitter();
    splitter.push(Buffer.from('par'));
    expect(textsOf(splitter.flush())).toEqual(['par']);
    expect(splitter.push(Buffer.from('\nnext\n'))).toEqual([{ text: 'next', continues: false, goesOn: false }]);
    expect(textsOf(new LineSplitter(true).push(Buffer.from('\na\n')))).toEqual(['a']);
    expect(splitter.pending).toBe(0);
  });

  it('says which of them are parts of one line', () => {
    const splitter = new LineSplitter();
    const long = splitter.push(Buffer.from(`${'x'.repeat(MAX_LINE_BYTES + 5)}\nnext\nhalf`));
    expect(long.map(({ continues, goesOn }) => [continues, goesOn])).toEqual([
      [false, true],
      [true, false],
      [false, false],
    ]);
    expect(splitter.flush()).toEqual([{ text: 'half', continues: false, goesOn: true }]);
    expect(splitter.push(Buffer.from(' of it\n'))).toEqual([{ text: ' of it', continues: true, goesOn: false }]);
    expect(new LineSplitter(true).push(Buffer.from('a\n'))).toMatchObject([{ continues: true }]);
  });
});
