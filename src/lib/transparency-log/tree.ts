/**
 * The hash tree of RFC 6962 (section 2.1): what is in front is proven by what comes after. A tree that grows is held as its frontier, the roots of the
 * full subtrees that it is made of, the largest first: at most one per binary digit of its size.
 */
import { hash } from 'node:crypto';

type Frontier = readonly Buffer[];

const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);
const HASH_BYTES = 32;

export function sha256(...parts: readonly Uint8Array[]): Buffer {
  return hash('sha256', parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts), 'buffer');
}

export function leafHash(data: Uint8Array): Buffer {
  return sha256(LEAF, data);
}

function nodeHash(left: Buffer, right: Buffer): Buffer {
  return sha256(NODE, left, right);
}

/** Changes the array that it is given: it is called a million times. `size` is that of the tree before. */
export function appendLeaf(frontier: Buffer[], size: number, leaf: Buffer): void {
  let node = leaf;
  // Each 1 at the end of the size is a full subtree as large as the node.
  for (let rest = size; rest % 2 === 1; rest = Math.floor(rest / 2)) {
    const left = frontier.pop();
    if (left === undefined) throw new Error(`A tree of ${size} leaves has no such frontier.`);
    node = nodeHash(left, node);
  }
  frontier.push(node);
}

export function rootOf(frontier: Frontier): Buffer {
  const last = frontier.at(-1);
  if (last === undefined) return sha256(Buffer.alloc(0));
  return frontier.slice(0, -1).reduceRight((right, left) => nodeHash(left, right), last);
}

/** Whether it can be that of a tree of this size. */
export function isFrontierOf(frontier: Frontier, size: number): boolean {
  const ones = [...size.toString(2)].filter((digit) => digit === '1').length;
  return frontier.length === ones && frontier.every(({ length }) => length === HASH_BYTES);
}
