/** Options that clients of different ages put into the query, a form or JSON; what is none of these is not looked at. */
import type { TSchema } from 'typebox';
import { Type } from '../schema.ts';
import {
  FORM,
  isForm,
  isJson,
  parseJson,
  type RawBody,
  readBodyFields,
  readLowerCased,
  scalarText,
  textOf,
} from '../body.ts';

type Query = Readonly<Record<string, unknown>>;

/** How such a body is described. */
export const OPTIONS_BODY = { mediaType: FORM, schema: Type.Record(Type.String(), Type.String()) };

/** The same with the names of its fields; what they may be is judged by whoever reads them. */
export function optionsBody<F extends Record<string, TSchema>>(fields: F) {
  return { mediaType: FORM, schema: Type.Object(fields) };
}

/** In a form a text anyway, in JSON also as what it is. */
export const amount = Type.Optional(Type.Unsafe<string | number | null>({ type: ['string', 'integer', 'null'] }));
export const flag = Type.Optional(Type.Unsafe<string | boolean | null>({ type: ['string', 'boolean', 'null'] }));

/** The query comes first; absent, null and empty options are ''. Throws `input.invalid_json`, `input.invalid`. */
export function readOptions<N extends string>(body: RawBody, query: Query, names: readonly N[]): Record<N, string> {
  const fields = readBodyFields(body);
  const values = names.map((name) => [name, scalarText(name, query[name] ?? fields.get(name)?.at(-1))] as const);
  return Object.fromEntries(values) as Record<N, string>;
}

/**
 * A body that is the name itself, whatever its label, or a JSON text, or has it in a field: `field`, else `name`, in any case.
 * '' when there is none. Throws `input.invalid_json`, `input.invalid`.
 */
export function readBare(body: RawBody, field: string): string {
  const text = body.text.trim();
  const unlabelled = { text, mediaType: '' };
  if (text.startsWith('"')) return textOf(field, parseJson(unlabelled));
  if (!isJson(unlabelled) && !isForm(unlabelled)) return text;
  const fields = readLowerCased(unlabelled);
  return textOf(field, fields.get(field.toLowerCase()) ?? fields.get('name'));
}

/** Every value of a name, from the query and the body; a JSON array is several values. */
export function readValues(body: RawBody, query: Query, name: string): unknown[] {
  const given = [query[name] ?? []].flat() as unknown[];
  return [...given, ...(readBodyFields(body).get(name) ?? [])].filter((value) => value !== '' && value !== null);
}
