import type { Static, TSchema } from 'typebox';
import { Type } from '../schema.ts';

/**
 * How a domain value looks on the wire. `toWire` may give more than one variant shows: the schema decides which fields
 * leave the server, so a field that no schema names can never leak.
 */
export interface Shape<T> {
  readonly schema: TSchema;
  readonly toWire: (value: T) => unknown;
  /** Of a list whose members are the same objects as long as they are as they were: what is sent of them is kept. */
  readonly pieces?: Pieces;
}

export interface Pieces {
  readonly schema: TSchema;
  readonly toWire: (member: never) => unknown;
  /** By the first of the members that it has. */
  readonly kept: WeakMap<object, Piece>;
}

/** What is sent of some members that follow each other. */
interface Piece {
  readonly members: readonly object[];
  /** It begins the list. */
  readonly isFirst: boolean;
  readonly bytes: Buffer;
}

export function shape<T, S extends TSchema>(schema: S, toWire: (value: T) => Static<S>): Shape<T> {
  return { schema, toWire };
}

/** Of members that are the same objects as long as they are as they were. */
export function standingList<T, S extends TSchema>(member: S, toWire: (value: T) => Static<S>): Shape<readonly T[]> {
  return {
    schema: Type.Array(member),
    toWire: (values) => values.map(toWire),
    pieces: { schema: member, toWire, kept: new WeakMap() },
  };
}
