/**
 * Documents as the schemas of operations show them. To turn a schema into code takes time and memory, and most are never needed by a
 * running server: each is turned into code when it is first needed.
 */
import fastJson, { type Schema } from 'fast-json-stringify';
import type { Pieces } from '../shapes/shape.ts';

const serializers = new WeakMap<object, (data: unknown) => string>();

/** The document as text. */
export function serialized(schema: object, data: unknown): string {
  let serialize = serializers.get(schema);
  if (serialize === undefined) {
    serialize = fastJson(schema as Schema);
    serializers.set(schema, serialize);
  }
  return serialize(data);
}

const OPEN = Buffer.from('[');
const BETWEEN = Buffer.from(',');
const CLOSE = Buffer.from(']');

/** A list, of which only those members are written anew that were not there before. */
export function serializedList({ schema, toWire, kept }: Pieces, members: readonly object[]): Buffer {
  const parts = members.flatMap((member, at) => {
    const piece = kept.get(member) ?? Buffer.from(serialized(schema, toWire(member as never)));
    kept.set(member, piece);
    return at === 0 ? [piece] : [BETWEEN, piece];
  });
  return Buffer.concat([OPEN, ...parts, CLOSE]);
}
