/** Reads request bodies whatever their Content-Type says: clients of every age mislabel them or do not label them at all. */
import type { TSchema } from 'typebox';
import { PlatformError } from '../domain/errors.ts';
import { isRecord } from '../lib/is-record.ts';

export interface RawBody {
  readonly text: string;
  /** Lower-case, without parameters; '' when the client sent none. */
  readonly mediaType: string;
}

export const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

export function decodeBody(bytes: Uint8Array, contentType: string): RawBody {
  const mediaType = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  try {
    return { text: UTF8.decode(bytes), mediaType };
  } catch (cause) {
    throw new PlatformError('input.invalid', 'The request body is not valid UTF-8.', {
      cause,
      hint: 'Send text encoded as UTF-8.',
    });
  }
}

/** True for what is meant as JSON: labelled so, or beginning like an object or array. */
export function isJson(body: RawBody): boolean {
  return JSON_TYPE.test(body.mediaType) || /^\s*[[{]/.test(body.text);
}

/** True for `name=...`, whatever the label says. */
export function isForm(body: RawBody): boolean {
  return !isJson(body) && /^[\w.%+-]+=/.test(body.text);
}

/** Throws `input.invalid_json`. */
export function parseJson(body: RawBody, message = 'Invalid JSON'): unknown {
  try {
    return JSON.parse(body.text) as unknown;
  } catch (cause) {
    throw new PlatformError('input.invalid_json', message, { cause, hint: 'Send one JSON document.' });
  }
}

/** A JSON document, or form fields made to look like one (booleans become booleans where the schema says so). */
export function readFields(body: RawBody, schema: TSchema): unknown {
  if (isForm(body)) return formFields(new URLSearchParams(body.text), schema);
  return parseJson(body);
}

/** Fields get the names that the schema has for them; what is written exactly like that counts first. */
export function inCaseOf(schema: TSchema, fields: unknown): unknown {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return fields;
  const { properties = {} } = schema as { properties?: Record<string, unknown> };
  const known = new Map(Object.keys(properties).map((name) => [name.toLowerCase(), name]));
  const renamed = Object.entries(fields).map(
    ([name, value]) => [known.get(name.toLowerCase()) ?? name, value] as const,
  );
  const exact = Object.entries(fields).filter(([name]) => Object.hasOwn(properties, name));
  return Object.fromEntries([...renamed, ...exact]);
}

function formFields(form: URLSearchParams, schema: TSchema): Record<string, unknown> {
  const properties = (schema as { properties?: Record<string, { type?: unknown }> }).properties ?? {};
  const booleans = new Set(Object.keys(properties).filter((name) => properties[name]?.type === 'boolean'));
  const fields = [...form].map(([name, value]) => [name, booleans.has(name) ? readFlag(name, value) : value] as const);
  return Object.fromEntries(fields);
}

/** Name -> every value it has, whichever of the two forms the body has; none in a body that is neither. */
export function readBodyFields(body: RawBody): Map<string, unknown[]> {
  const fields = new Map<string, unknown[]>();
  const pairs = isJson(body) ? jsonPairs(parseJson(body)) : isForm(body) ? [...new URLSearchParams(body.text)] : [];
  for (const [name, value] of pairs) {
    const known = fields.get(name) ?? [];
    fields.set(name, known);
    for (const one of [value].flat()) known.push(one);
  }
  return fields;
}

/** Of each the last value, under its name in lower case: clients of different ages write names in different ones. */
export function readLowerCased(body: RawBody): Map<string, unknown> {
  return new Map([...readBodyFields(body)].map(([name, values]) => [name.toLowerCase(), values.at(-1)]));
}

function jsonPairs(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : [];
}

/** Absent and null are ''. Throws `input.invalid`. */
export function textOf(name: string, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw new PlatformError('input.invalid', `"${name}" must be text.`, { hint: `Send ${name}=<value>.` });
}

/** As textOf(), also for numbers and booleans. */
export function scalarText(name: string, value: unknown): string {
  return textOf(name, typeof value === 'number' || typeof value === 'boolean' ? String(value) : value);
}

/** A yes or no in a query or form: absent or empty is no. Throws `input.invalid`. */
export function readFlag(name: string, value: unknown): boolean {
  const text = value === undefined || value === null ? '' : String(value).toLowerCase();
  if (['true', '1', 't'].includes(text)) return true;
  if (['', 'false', '0', 'f'].includes(text)) return false;
  throw new PlatformError('input.invalid', `Parameter "${name}" must be true or false.`, {
    hint: `Send ${name}=true or ${name}=false.`,
  });
}
