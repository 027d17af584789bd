import type { Static, TSchema } from 'typebox';

/**
 * How a domain value looks on the wire. `toWire` may give more than one variant shows: the schema decides which fields
 * leave the server, so a field that no schema names can never leak.
 */
export interface Shape<T> {
  readonly schema: TSchema;
  readonly toWire: (value: T) => unknown;
}

export function shape<T, S extends TSchema>(schema: S, toWire: (value: T) => Static<S>): Shape<T> {
  return { schema, toWire };
}
