/** Compares what a server answered with what its OpenAPI document says. Stricter than JSON Schema: what is not named is wrong. */
import type { Content, Described, Schema } from './document.ts';

export interface Answered {
  readonly status: number;
  /** '' when there was none. */
  readonly contentType: string;
  readonly text: string;
  readonly code: string | undefined;
}

type Schemas = Readonly<Record<string, Schema>>;

const STREAM = 'application/x-json-stream';
const KEYWORDS = new Set([
  '$ref',
  'type',
  'properties',
  'patternProperties',
  'required',
  'items',
  'anyOf',
  'const',
  'enum',
  'description',
]);

/** What is wrong with an answer; empty when nothing is. */
export function problemsOf(operation: Described, answered: Answered, schemas: Schemas): string[] {
  const documented = operation.responses[String(answered.status)];
  if (documented === undefined) return [`status ${answered.status} is not documented`];
  const problems: string[] = [];
  if (answered.status > 399 && !operation['x-errors'].includes(answered.code ?? '')) {
    problems.push(`code ${String(answered.code)} is not documented`);
  }
  return [...problems, ...problemsOfBody(documented.content, answered, schemas)];
}

function problemsOfBody(content: Content | undefined, { contentType, text }: Answered, schemas: Schemas): string[] {
  if (content === undefined) return text === '' ? [] : ['there is a body, and none is documented'];
  const type = (contentType.split(';', 1)[0] ?? '').trim();
  const media = content[type];
  if (media === undefined) return [`content type "${type}" is not documented`];
  const { schema } = media;
  if (schema === undefined) return [`content type "${type}" has no schema`];
  if (type === 'text/plain') return schema.type === 'string' ? [] : ['a text has another schema than a string'];
  // A followed log is one array after the other.
  const documents =
    type === STREAM || /\n./.test(text) ? text.split('\n').filter((line) => line.trim() !== '') : [text];
  return documents.flatMap((document) => {
    try {
      return mismatches(schema, JSON.parse(document), schemas, '');
    } catch {
      return [`not JSON: ${document.slice(0, 80)}`];
    }
  });
}

/** Where a value is not what the schema says, field by field. */
export function mismatches(schema: Schema, value: unknown, schemas: Schemas, where: string): string[] {
  const unknown = Object.keys(schema).filter((keyword) => !KEYWORDS.has(keyword));
  if (unknown.length > 0) return [`${where}: these checks do not know the keyword ${unknown.join(', ')}`];
  if (schema.$ref !== undefined) {
    const referred = schemas[schema.$ref.replace('#/components/schemas/', '')];
    return referred === undefined
      ? [`${where}: ${schema.$ref} leads nowhere`]
      : mismatches(referred, value, schemas, where);
  }
  if (schema.anyOf !== undefined) {
    const each = schema.anyOf.map((one) => mismatches(one, value, schemas, where));
    return each.some((found) => found.length === 0) ? [] : (each[0] ?? []);
  }
  if (schema.const !== undefined && schema.const !== value) return [`${where} is not ${String(schema.const)}`];
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${where} is none of the documented values`];
  const types = [schema.type ?? []].flat();
  if (types.length > 0 && !types.some((type) => isA(type, value))) {
    return [`${where} is no ${types.join(' or ')}`];
  }
  if (Array.isArray(value)) return arrayMismatches(schema, value, schemas, where);
  return typeof value === 'object' && value !== null ? objectMismatches(schema, { ...value }, schemas, where) : [];
}

function arrayMismatches(schema: Schema, value: readonly unknown[], schemas: Schemas, where: string): string[] {
  const { items } = schema;
  return items === undefined ? [] : value.flatMap((item) => mismatches(items, item, schemas, `${where}[]`));
}

function objectMismatches(schema: Schema, value: Record<string, unknown>, schemas: Schemas, where: string): string[] {
  const { properties = {}, patternProperties = {}, required = [] } = schema;
  // An object that names no fields may have any.
  if (schema.properties === undefined && schema.patternProperties === undefined) return [];
  const missing = required.filter((name) => !(name in value)).map((name) => `${where}.${name} is missing`);
  const wrong = Object.entries(value).flatMap(([name, field]) => {
    const own =
      properties[name] ?? Object.entries(patternProperties).find(([form]) => new RegExp(form).test(name))?.[1];
    return own === undefined
      ? [`${where}.${name} is not documented`]
      : mismatches(own, field, schemas, `${where}.${name}`);
  });
  return [...missing, ...wrong];
}

function isA(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}
