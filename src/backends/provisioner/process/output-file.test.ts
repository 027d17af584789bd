import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { mkdtemp } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { MissingOutput } from '../../../domain/units/provisioner.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lastLinesOf, planHole, punchHole, tailOutput } from './output-file.ts';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tancho-output-'));
  path = join(directory, 'output');
  writeFileSync(path, '');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Follows in the background until stop(). */
function follow(from = 0) {
  const abort = new AbortController();
  let die = (): void => undefined;
  const gone = new Promise<void>((resolve) => {
    die = resolve;
  });
  const lines: string[] = [];
  const offsets: number[] = [];
  const missing: MissingOutput[] = [];
  const reading = (async () => {
    for await (const chunk of tailOutput({ path, from, signal: abort.signal, gone })) {
      lines.push(...chunk.lines.map(({ text }) => text));
      offsets.push(chunk.offset);
      if (chunk.missing !== undefined) missing.push(chunk.missing);
    }
  })();
  return {
    lines,
    offsets,
    missing,
    stop: async () => {
      abort.abort();
      await reading;
    },
    end: async () => {
      die();
      await reading;
    },
  };
}

it('a file that is longer than numbers can say is read as far as they can', async ({ skip }) => {
  // Not every file system takes such lengths.
  const memory = await mkdtemp('/dev/shm/tancho-output-').catch(() => null);
  if (memory === null) return skip('there is no /dev/shm');
  const [long, gone] = [join(memory, 'output'), Promise.resolve()];
  try {
    writeFileSync(long, 'begin\n');
    execFileSync('truncate', ['-s', '7E', long]);
    expect(await lastLinesOf(long, 1, 0)).toHaveLength(1);
    const chunks = tailOutput({ path: long, from: 0, signal: new AbortController().signal, gone });
    for await (const { offset } of chunks) expect(offset).toBeLessThan(Number.MAX_SAFE_INTEGER);
  } finally {
    rmSync(memory, { recursive: true });
  }
});

describe('tailOutput', () => {
  it('gives each line as it is written, and does not wait for the next one', async () => {
    const tail = follow();
    for (let count = 1; count <= 10; count += 1) {
      appendFileSync(path, `line ${count}\n`);
      await expect.poll(() => tail.lines.length, { interval: 1 }).toBe(count);
    }
    await tail.stop();
    expect(tail.lines).toEqual(Array.from({ length: 10 }, (_, at) => `line ${at + 1}`));
  });

  it('skips what no one could ever read, and says how much', async () => {
    appendFileSync(path, 'first\n');
    truncateSync(path, 1e13);
    appendFileSync(path, '\nlast\n');
    const tail = follow();
    await expect.poll(() => tail.lines.at(-1)).toBe('last');
    expect(tail.missing).toEqual([{ lines: null, bytes: expect.closeTo(1e13, -8) as number, why: 'too much' }]);
    appendFileSync(path, 'more\n');
    await expect.poll(() => tail.lines.at(-1)).toBe('more');
    expect(tail.offsets.at(-1)).toBe(statSync(path).size);
    await tail.stop();
  });

  it('counts the lines that are too many to be read in time', async () => {
    const [count, size] = [29_000, 10_000];
    const block = `${'x'.repeat(size - 1)}\n`.repeat(100);
    for (let written = 0; written < count; written += 100) appendFileSync(path, block);
    appendFileSync(path, 'last\n');
    const tail = follow();
    await expect.poll(() => tail.lines.at(-1)).toBe('last');
    const missing = count - (tail.lines.length - 1);
    expect(missing).toBeGreaterThan(count / 2);
    expect(tail.missing).toEqual([{ lines: missing, bytes: missing * size, why: 'too much' }]);
    await tail.stop();
  });

  it('names offsets from which a later reader goes on without gap or repetition', async () => {
    appendFileSync(path, 'a\nb\npart');
    const first = follow();
    await expect.poll(() => first.lines).toEqual(['a', 'b']);
    await first.stop();
    expect(first.offsets).toEqual([4]);
    appendFileSync(path, 'ial\nc\n');
    const second = follow(4);
    await second.end();
    expect(second.lines).toEqual(['partial', 'c']);
  });

  it('gives a line without end after a quiet second, and at the very end', async () => {
    appendFileSync(path, 'prompt> ');
    const tail = follow();
    await expect.poll(() => tail.lines).toEqual(['prompt> ']);
    appendFileSync(path, '\nlast');
    await tail.end();
    expect(tail.lines).toEqual(['prompt> ', 'last']);
    expect(tail.offsets.at(-1)).toBe(statSync(path).size);
  });

  it('begins anew when the app empties the file', async () => {
    appendFileSync(path, 'something long\n');
    const tail = follow();
    await expect.poll(() => tail.lines).toHaveLength(1);
    truncateSync(path);
    appendFileSync(path, 'new\n');
    await expect.poll(() => tail.lines).toEqual(['something long', 'new']);
    await tail.stop();
  });
});

describe('lastLinesOf', () => {
  it('reads the end of the file', async () => {
    appendFileSync(path, 'a\nb\nc');
    expect(await lastLinesOf(path, 2, 0)).toEqual(['b', 'c']);
    expect(await lastLinesOf(path, 5, 2)).toEqual(['b', 'c']);
    expect(await lastLinesOf(join(directory, 'none'), 5, 0)).toEqual([]);
  });
});

describe('holes', () => {
  const MIB = 1024 * 1024;

  it('are punched only when that frees a mebibyte, in whole blocks, sparing the end', () => {
    expect(planHole(0, MIB, 8 * MIB)).toEqual({ offset: 0, length: MIB });
    expect(planHole(0, MIB - 1, 8 * MIB)).toBeNull();
    expect(planHole(MIB, 3 * MIB + 100, 8 * MIB)).toEqual({ offset: MIB, length: 2 * MIB });
    expect(planHole(0, 2 * MIB, 2 * MIB)).toEqual({ offset: 0, length: 2 * MIB - 256 * 1024 });
  });

  it('give disk space back and leave every offset valid', async ({ skip }) => {
    writeFileSync(path, 'x'.repeat(99).concat('\n').repeat(40_000));
    const before = statSync(path);
    try {
      await punchHole(path, { offset: 0, length: 2 * MIB });
    } catch (error) {
      skip(`this file system has no holes: ${String(error)}`);
    }
    const after = statSync(path);
    expect(after.size).toBe(before.size);
    expect(after.blocks).toBeLessThanOrEqual(before.blocks - (2 * MIB) / 512);
    expect(await lastLinesOf(path, 1, 2 * MIB)).toEqual(['x'.repeat(99)]);
  });
});
