/** Options that clients of different ages put into the query, a form or JSON; what is none of these is not looked at. */
import type { TSchema } from 'typebox';
import { Type } from '../schema.ts';
import { PlatformError } from '../../domain/errors.ts';
import { FORM, isJson, parseJson, type RawBody } from '../body.ts';

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
  const values = names.map((name) => [name, optionText(name, query[name] ?? fields.get(name)?.at(-1))] as const);
  return Object.fromEntries(values) as Record<N, string>;
}

/**
 * A body that is the name itself, whatever its label, or a JSON text, or has it in a field: `field`, else `name`, in any case.
 * '' when there is none. Throws `input.invalid_json`, `input.invalid`.
 */
export function readBare(body: RawBody, field: string): string {
  const name = bareValue(body, field) ?? '';
  if (typeof name === 'string') return name;
  throw new PlatformError('input.invalid', `"${field}" must be text.`, { hint: `Send ${field}=<name>.` });
}

function bareValue(body: RawBody, field: string): unknown {
  const text = body.text.trim();
  if (text.startsWith('"')) return parseJson(body);
  if (!/^[[{]/.test(text) && !isFormText(text)) return text;
  const fields = new Map([...readBodyFields(body)].map(([name, values]) => [name.toLowerCase(), values.at(-1)]));
  return fields.get(field.toLowerCase()) ?? fields.get('name');
}

/** Every value of a name, from the query and the body; a JSON array is several values. */
export function readValues(body: RawBody, query: Query, name: string): unknown[] {
  const given = [query[name] ?? []].flat() as unknown[];
  return [...given, ...(readBodyFields(body).get(name) ?? [])].filter((value) => value !== '' && value !== null);
}

export function readBodyFields(body: RawBody): Map<string, unknown[]> {
  const fields = new Map<string, unknown[]>();
  const pairs = isJson(body) ? jsonPairs(parseJson(body)) : isFormText(body.text) ? formPairs(body) : [];
  for (const [name, value] of pairs) fields.set(name, [...(fields.get(name) ?? []), ...[value].flat()]);
  return fields;
}

function isFormText(text: string): boolean {
  return /^[\w.%+-]+=/.test(text);
}

function formPairs(body: RawBody): [string, unknown][] {
  return [...new URLSearchParams(body.text)];
}

function jsonPairs(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

function optionText(name: string, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new PlatformError('input.invalid', `"${name}" must be text.`, { hint: `Send ${name}=<value>.` });
}
