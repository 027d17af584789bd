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

/** Of each change so many are written anew. */
const PIECE_MEMBERS = 16;
const CLOSE = Buffer.from(']');
const EMPTY = Buffer.from('[]');

/** A list in pieces, of which only those are written anew that have other members than before. */
export function serializedList(pieces: Pieces, members: readonly object[]): readonly Buffer[] {
  const list: Buffer[] = [];
  for (let at = 0; at < members.length; at += PIECE_MEMBERS)
    list.push(bytesOf(pieces, members.slice(at, at + PIECE_MEMBERS), at === 0));
  return list.length === 0 ? [EMPTY] : [...list, CLOSE];
}

function bytesOf({ schema, toWire, kept }: Pieces, members: readonly object[], isFirst: boolean): Buffer {
  const [first = members] = members;
  const known = kept.get(first);
  if (known?.isFirst === isFirst && isSame(known.members, members)) return known.bytes;
  const texts = members.map((member) => serialized(schema, toWire(member as never)));
  const bytes = Buffer.from(`${isFirst ? '[' : ','}${texts.join(',')}`);
  kept.set(first, { members, isFirst, bytes });
  // So that there is one piece of each, whatever lists there are.
  for (const other of members.slice(1)) kept.delete(other);
  return bytes;
}

function isSame(some: readonly object[], others: readonly object[]): boolean {
  return some.length === others.length && some.every((one, at) => one === others[at]);
}
