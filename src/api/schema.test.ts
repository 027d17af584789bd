import { Type as TypeBox } from 'typebox';
import { describe, expect, it } from 'vitest';
import { Type } from './schema.ts';

type Builders = Pick<typeof TypeBox, keyof typeof Type>;

/** Everything the operations use, in every combination that makes a difference. */
function schemas(from: Builders): unknown[] {
  const text = from.Optional(from.Unsafe<string | null>({ type: ['string', 'null'] }));
  const inner = from.Object({ a: from.Integer({ minimum: 1 }), b: from.Optional(from.Boolean()) });
  return [
    from.String(),
    from.String({ maxLength: 3 }),
    from.Array(inner, { maxItems: 2 }),
    from.Record(from.String(), from.Array(from.String())),
    from.Object({}),
    from.Object({ text }),
    from.Object({ text, inner, list: from.Optional(from.Array(from.Boolean())) }, { additionalProperties: false }),
  ];
}

describe('the schema builders', () => {
  it('make what TypeBox makes', () => {
    expect(JSON.stringify(schemas(Type))).toBe(JSON.stringify(schemas(TypeBox)));
  });

  it('leave a schema that is made optional somewhere as it is elsewhere', () => {
    const name = Type.String();
    const schema = Type.Object({ old: Type.Optional(name), name });
    expect(JSON.parse(JSON.stringify(schema))).toMatchObject({ required: ['name'] });
  });
});
