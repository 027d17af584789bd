import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { appendLeaf, isFrontierOf, leafHash, rootOf } from './tree.ts';

const sha = (...parts: Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();

/** The definition of RFC 6962, section 2.1, word by word. */
function definedRoot(data: readonly Buffer[]): Buffer {
  const [only] = data;
  if (only === undefined) return sha();
  if (data.length === 1) return sha(Buffer.of(0), only);
  let half = 1;
  while (half * 2 < data.length) half *= 2;
  return sha(Buffer.of(1), definedRoot(data.slice(0, half)), definedRoot(data.slice(half)));
}

it('has at every size the root that RFC 6962 defines', () => {
  const frontier: Buffer[] = [];
  const data: Buffer[] = [];
  for (let size = 0; size <= 70; size += 1) {
    expect(rootOf(frontier).toString('hex'), String(size)).toBe(definedRoot(data).toString('hex'));
    expect([isFrontierOf(frontier, size), isFrontierOf(frontier, size * 2 + 1)]).toEqual([true, false]);
    const next = Buffer.from(`leaf ${size}`);
    data.push(next);
    appendLeaf(frontier, size, leafHash(next));
  }
});

it('has the root of the examples that other implementations have', () => {
  const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
  const frontier: Buffer[] = [];
  for (const [size, hex] of inputs.entries()) appendLeaf(frontier, size, leafHash(Buffer.from(hex, 'hex')));
  expect(rootOf(frontier).toString('hex')).toBe('5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328');
});
