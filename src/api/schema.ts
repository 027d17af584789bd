/**
 * The builders of JSON Schema that the operations use, typed by TypeBox. TypeBox itself stays out of the running program:
 * loading it takes 3.5 MB, for eight functions that each make a small object.
 */
import type { Type as TypeBox } from 'typebox';

type Schema = Readonly<Record<string, unknown>>;

const OPTIONAL = Symbol('optional');

const builders = {
  String: (options?: Schema) => ({ type: 'string', ...options }),
  Boolean: (options?: Schema) => ({ type: 'boolean', ...options }),
  Integer: (options?: Schema) => ({ type: 'integer', ...options }),
  Array: (items: Schema, options?: Schema) => ({ type: 'array', items, ...options }),
  Record: (_key: Schema, value: Schema, options?: Schema) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  Object(properties: Readonly<Record<string, Schema>>, options?: Schema) {
    const required = Object.keys(properties).filter(
      (name) => properties[name] !== undefined && !isOptional(properties[name]),
    );
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
  },
  /** Of a property: it may be absent. */
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  /** Any schema, with the type it is said to have. */
  Unsafe: (schema: Schema) => schema,
};

function isOptional(schema: Schema): boolean {
  return OPTIONAL in schema;
}

export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;
