/**
 * Documents as the schemas of operations show them. To turn a schema into code takes time and memory, and most are never needed by a
 * running server: each is turned into code when it is first needed.
 */
import fastJson, { type Schema } from 'fast-json-stringify';

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
