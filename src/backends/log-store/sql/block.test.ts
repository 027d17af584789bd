import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../../domain/logs/entry.ts';
import { entry } from '../testing/case.ts';
import { filterOf, mayContain } from './block-filter.ts';
import { entriesOf, openBlock, packBlock } from './block.ts';

const message = fc.string({ unit: 'grapheme', maxLength: 60 }).map((text) => Buffer.from(text).toString());
const anEntry = fc
  .record({
    message: fc.oneof(message, fc.constantFrom('', '\n', 'two\nlines', 'a\r\n', '\u2028')),
    at: fc.constantFrom('2026-03-04T05:06:07.089Z', '2026-03-04T05:06:08.000Z', ''),
    unit: fc.constantFrom('shop/0', 'shop/1'),
    release: fc.nat(3),
    gap: fc.constantFrom(1, 1, 1, 7),
  })
  .map(({ gap, ...rest }) => ({ gap, entry: entry(rest.message, rest) }));

function numbered(given: readonly { readonly gap: number; readonly entry: LogEntry }[]): LogEntry[] {
  let seq = 10;
  return given.map(({ gap, entry: one }) => ({ ...one, seq: (seq += gap) }));
}

describe('a block', () => {
  it('gives back every entry as it was', () => {
    fc.assert(
      fc.property(fc.array(anEntry, { minLength: 1, maxLength: 80 }), (given) => {
        const entries = numbered(given);
        const { packed, streams, ...block } = packBlock(entries);
        expect(entriesOf('shop', openBlock(packed), streams)).toEqual(entries);
        expect(block).toMatchObject({
          firstSeq: entries[0]?.seq,
          lastSeq: entries.at(-1)?.seq,
          entries: entries.length,
        });
        expect(block.bytes).toBe(entries.reduce((sum, one) => sum + Buffer.byteLength(one.message) + 1, 0));
        const times = entries.map(({ at }) => at).sort();
        expect([block.firstAt, block.lastAt]).toEqual([times[0], times.at(-1)]);
      }),
    );
  });

  it('keeps messages apart where the first line of one is as many bytes as all of it has characters', () => {
    const entries = ['éé\na', 'next', 'é\n', 'last'].map((text, n) => entry(text, { seq: n + 1 }));
    const { packed, streams } = packBlock(entries);
    expect(entriesOf('shop', openBlock(packed), streams)).toEqual(entries);
  });

  it('of lines like those of a server is a small part of them', () => {
    const lines = Array.from({ length: 2_000 }, (_, n) =>
      entry(`GET /orders/${n * 7919} 200 ${(n * 31) % 97} ms`, { seq: n + 1 }),
    );
    const { packed, bytes } = packBlock(lines);
    expect(packed.length).toBeLessThan(bytes * 0.35);
  });
});

describe('a filter', () => {
  it('never denies what is there, in whatever case', () => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 50 }), fc.nat(), fc.nat(), (messages, which, from) => {
        const one = (messages[which % messages.length] ?? '').toLowerCase();
        const characters = [...one];
        const part = characters.slice(characters.length === 0 ? 0 : from % characters.length).join('');
        const filter = filterOf(messages.join('\n'));
        expect([mayContain(filter, part), mayContain(filter, one)]).toEqual([true, true]);
      }),
    );
  });

  it('denies most of what is not there, words and identifiers alike', () => {
    const id = (n: number) => ((n + 1) * 2_654_435_761 * 4_093).toString(16).slice(0, 12);
    const lines = Array.from({ length: 2_000 }, (_, n) => `request ${id(n)} served by ${n % 9} in ${n % 300} ms`);
    const filter = filterOf(lines.join('\n'));
    const denied = (words: readonly string[]) =>
      words.filter((word) => !mayContain(filter, word)).length / words.length;
    expect(lines.every((line) => mayContain(filter, line))).toBe(true);
    expect(denied(Array.from({ length: 500 }, (_, n) => id(n + 5_000)))).toBeGreaterThan(0.6);
    expect(denied(['timeout', 'exception', 'unauthorized', 'deadlock', 'panic'])).toBe(1);
  });

  it('is small where little is said, and empty is none', () => {
    expect(filterOf('ping\n'.repeat(5_000)).length).toBeLessThan(200);
    expect(mayContain(new Uint8Array(0), 'anything')).toBe(true);
  });
});
