/** The forms in which clients of different ages send changes of an app's environment (specification 4.1: not shown). */
import { demandFew, MAX_VARIABLES } from '../../domain/env/env-rules.ts';
import { PlatformError } from '../../domain/errors.ts';
import { isRecord } from '../../lib/is-record.ts';
import { FORM, isForm, isJson, parseJson, type RawBody, readFlag } from '../body.ts';

interface EnvSet {
  readonly vars: readonly { name: unknown; value: unknown; public: boolean }[];
  readonly noRestart: boolean;
}

interface EnvUnset {
  readonly names: readonly unknown[];
  readonly noRestart: boolean;
}

type Query = Readonly<Record<string, unknown>>;
type Pairs = readonly (readonly [name: string, value: unknown])[];

const SET_HINT = 'Send a JSON object such as {"NAME": "value"}.';
const SET_MESSAGE = 'You must provide the environment variables in a JSON object';
const UNSET_MESSAGE = 'You must provide the list of environment variables, in JSON format';
const FORM_FIELD = /^Envs\.(\d+)\.(Name|Value|Private)$/i;
/** Of one variable in a form, and then some. */
const MAX_FIELDS = 10;
const OPTIONS = new Set(['private', 'norestart', 'managedby', 'pruneunused']);

/** Refuses too many before anything is made of them. JSON object name -> value, a JSON list as it is listed, JSON or form in the later `Envs` style, a plain form, or the oldest clients' text `A=b C=d`. */
export function readEnvSet(body: RawBody, query: Query): EnvSet {
  if (isJson(body)) return fromJson(parseJson(body, SET_MESSAGE), query);
  if (!isForm(body)) throw new PlatformError('input.invalid_json', SET_MESSAGE, { hint: SET_HINT });
  if (!isEnvForm(body)) return fromText(body.text, query);
  demandFew(body.text.split('&', MAX_FIELDS * MAX_VARIABLES + 1).length / MAX_FIELDS);
  return fromForm([...new URLSearchParams(body.text)], query);
}

/** JSON array of names, repeated query `env`, the same as a form, or the oldest clients' text `A B`. */
export function readEnvUnset(body: RawBody, query: Query): EnvUnset {
  const form = isEnvForm(body) ? [...new URLSearchParams(body.text)] : [];
  const names = [...readNames(body), ...asList(query['env']), ...form.filter(([n]) => n === 'env').map(([, v]) => v)];
  if (names.length === 0) {
    throw new PlatformError('input.invalid', UNSET_MESSAGE, { hint: 'Send a JSON array such as ["NAME"].' });
  }
  return { names, noRestart: option('noRestart', query, form) };
}

/** The names a listing is limited to; undefined for all. A body that is no list of names is ignored, as GETs have none. */
export function readEnvFilter(body: RawBody, query: Query): string[] | undefined {
  let names = asList(query['env']);
  try {
    names = [...readNames(body), ...names];
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
  }
  const wanted = names.filter((name) => typeof name === 'string' && name !== '') as string[];
  return wanted.length > 0 ? wanted : undefined;
}

function readNames(body: RawBody): unknown[] {
  const text = body.text.trim();
  if (text === '' || isEnvForm(body)) return [];
  if (/^[A-Z_][A-Z0-9_]*(?: [A-Z_][A-Z0-9_]*)*$/.test(text)) return text.split(' ');
  const value = parseJson(body, UNSET_MESSAGE);
  if (value === null) return [];
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value;
  throw new PlatformError('input.invalid', UNSET_MESSAGE, { hint: 'Send a JSON array of strings.' });
}

interface Found {
  readonly name: unknown;
  readonly value: unknown;
  readonly private?: unknown;
  /** As a listing shows it; absent: it is. */
  readonly public?: unknown;
}

function envSet(found: readonly Found[], query: Query, beside: Pairs): EnvSet {
  if (found.length === 0) throw new PlatformError('input.invalid', SET_MESSAGE, { hint: SET_HINT });
  const isPrivate = option('private', query, beside);
  return {
    vars: found.map(({ name, value, private: own, public: shown = true }) => ({
      name,
      value: asText(name, value),
      public: !isPrivate && !readFlag('private', own) && readFlag('public', shown),
    })),
    noRestart: option('noRestart', query, beside),
  };
}

function fromJson(value: unknown, query: Query): EnvSet {
  if (Array.isArray(value) && value.every(isRecord)) return envSet(records(value), query, []);
  if (!isRecord(value)) throw new PlatformError('input.invalid', SET_MESSAGE, { hint: SET_HINT });
  const pairs = Object.entries(value);
  demandFew(pairs.length);
  const list = pairs.find(([name]) => name.toLowerCase() === 'envs')?.[1];
  if (Array.isArray(list)) return envSet(records(list), query, pairs);
  return envSet(
    pairs.map(([name, text]) => ({ name, value: text })),
    query,
    [],
  );
}

function fromForm(pairs: Pairs, query: Query): EnvSet {
  const rows = new Map<string, Record<string, unknown>>();
  const plain: Found[] = [];
  for (const [key, value] of pairs) {
    const [, index, field] = FORM_FIELD.exec(key) ?? [];
    if (index !== undefined && field !== undefined) rows.set(index, { ...rows.get(index), [field]: value });
    else if (!OPTIONS.has(key.toLowerCase())) plain.push({ name: key, value });
  }
  return envSet(rows.size > 0 ? [...rows.values()].map(lowerCased) : plain, query, pairs);
}

function fromText(given: string, query: Query): EnvSet {
  const text = given.trim();
  // A value goes on to the next name; with one expression for all white space before that, much of it would take for ever.
  const starts: number[] = [];
  for (const { index } of ` ${text}`.matchAll(/\s\w+=/g)) demandFew(starts.push(index));
  const bounds = starts[0] === 0 ? starts : [0, ...starts];
  const pairs = bounds.map((start, at) => text.slice(start, bounds[at + 1]).trimEnd());
  const found = pairs.map((pair) => ({
    name: pair.slice(0, pair.indexOf('=')),
    value: pair.slice(pair.indexOf('=') + 1),
  }));
  return envSet(found, query, []);
}

function records(list: readonly unknown[]): Found[] {
  demandFew(list.length);
  return list.map(lowerCased);
}

function asText(name: unknown, value: unknown): string {
  if (typeof value === 'string') return value;
  throw new PlatformError('input.invalid', `The value of ${String(name).slice(0, 100)} is not a string.`, {
    hint: SET_HINT,
  });
}

function lowerCased(item: unknown): Found {
  const fields = isRecord(item) ? item : {};
  return {
    name: undefined,
    value: undefined,
    ...Object.fromEntries(Object.entries(fields).map(([key, value]) => [key.toLowerCase(), value])),
  };
}

/** The query first, then the fields beside the variables; clients spell them with either case. */
function option(name: string, query: Query, beside: Pairs): boolean {
  const lower = name.toLowerCase();
  const given = [...Object.entries(query), ...beside].find(([key]) => key.toLowerCase() === lower);
  return readFlag(name, given?.[1]);
}

/** True for a form whose fields are those of later clients; the text of the oldest ones looks like another, but for its white space. */
function isEnvForm(body: RawBody): boolean {
  if (isJson(body)) return false;
  if (body.mediaType === FORM) return true;
  return /^(?:Envs\.\d+\.\w+|env|noRestart|private)=/i.test(body.text) && !/\s/.test(body.text.trim());
}

function asList(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
