/** Schemas of single fields that several operations have. */
import { Type } from '../schema.ts';

/** A field that may be left out, null or empty; anything but text is refused as a wrong type. */
export const optionalText = Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'] }));

/** A query parameter that may be given several times. */
export const repeatedText = Type.Optional(
  Type.Unsafe<string | string[]>({ type: ['string', 'array'], items: { type: 'string' } }),
);

export const queryText = Type.Optional(Type.String());

export const appParams = Type.Object({ app: Type.String() });
