/** The rules of OpenAPI 3.1.0 for the parts that this API uses; what these rules do not know is reported. Gives what is wrong. */

type Json = Readonly<Record<string, unknown>>;
type Rule = (value: unknown, where: string) => string[];

const SCHEMA_TYPES = ['string', 'boolean', 'integer', 'number', 'object', 'array', 'null'];
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

export function openApiProblems(document: Json): string[] {
  return [...rules.document(document, ''), ...crossProblems(document)];
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const string: Rule = (value, where) => (typeof value === 'string' ? [] : [`${where} is no text`]);
const boolean: Rule = (value, where) => (typeof value === 'boolean' ? [] : [`${where} is neither true nor false`]);
const anything: Rule = () => [];
const oneOf =
  (...values: readonly string[]): Rule =>
  (value, where) =>
    values.includes(String(value)) ? [] : [`${where} is none of ${values.join(', ')}`];
const like =
  (pattern: RegExp): Rule =>
  (value, where) =>
    typeof value === 'string' && pattern.test(value) ? [] : [`${where} is not like ${pattern.source}`];
const listOf =
  (rule: Rule): Rule =>
  (value, where) =>
    Array.isArray(value) ? value.flatMap((item, index) => rule(item, `${where}[${index}]`)) : [`${where} is no list`];
const mapOf =
  (key: RegExp, rule: Rule): Rule =>
  (value, where) =>
    isObject(value)
      ? Object.entries(value).flatMap(([name, item]) => [
          ...(key.test(name) ? [] : [`${where}: "${name}" is no proper key`]),
          ...rule(item, `${where}.${name}`),
        ])
      : [`${where} is no object`];

/** Fields that must be there are written with `!`. Extensions (`x-`) may be added to every object but schemas. */
function fields(known: Readonly<Record<string, Rule>>): Rule {
  const rulesOf = new Map(Object.entries(known).map(([name, rule]) => [name.replace('!', ''), rule]));
  const required = Object.keys(known).flatMap((name) => (name.endsWith('!') ? [name.slice(0, -1)] : []));
  return (value, where) => {
    if (!isObject(value)) return [`${where} is no object`];
    const missing = required.filter((name) => !(name in value)).map((name) => `${where}.${name} is missing`);
    const wrong = Object.entries(value).flatMap(([name, field]) => {
      const rule = name.startsWith('x-') ? anything : rulesOf.get(name);
      return rule === undefined ? [`${where}.${name} is not known`] : rule(field, `${where}.${name}`);
    });
    return [...missing, ...wrong];
  };
}

const schema: Rule = (value, where) => schemaFields(value, where);
const types: Rule = (value, where) => [value].flat().flatMap((type) => oneOf(...SCHEMA_TYPES)(type, where));
const schemaFields: Rule = fields({
  $ref: like(/^#\/components\/schemas\/\w+$/),
  type: types,
  description: string,
  items: schema,
  properties: mapOf(/./, schema),
  patternProperties: mapOf(/./, schema),
  required: listOf(string),
  anyOf: listOf(schema),
  enum: listOf(anything),
  const: anything,
});
const content = mapOf(/^[\w.+*-]+\/[\w.+*-]+$/, fields({ schema, example: anything }));
const header = fields({ description: string, required: boolean, 'schema!': schema });
const response = fields({ 'description!': string, content, headers: mapOf(/^[\w-]+$/, header) });
const parameter = fields({
  'name!': string,
  'in!': oneOf('path', 'query', 'header', 'cookie'),
  'schema!': schema,
  required: boolean,
  description: string,
});
const operation = fields({
  operationId: like(/^[\w.-]+$/),
  summary: string,
  description: string,
  tags: listOf(string),
  parameters: listOf(parameter),
  requestBody: fields({ 'content!': content, required: boolean, description: string }),
  'responses!': mapOf(/^(?:[1-5]\d\d|[1-5]XX|default)$/, response),
  security: listOf(mapOf(/./, listOf(string))),
});
const item = fields(Object.fromEntries(METHODS.map((method) => [method, operation])));
const securityScheme = fields({ 'type!': oneOf('apiKey', 'http'), scheme: string, description: string });

const rules = {
  document: fields({
    'openapi!': like(/^3\.1\.\d+$/),
    'info!': fields({
      'title!': string,
      'version!': string,
      description: string,
      license: fields({ 'name!': string, identifier: string }),
    }),
    servers: listOf(fields({ 'url!': string, description: string })),
    tags: listOf(fields({ 'name!': string, description: string })),
    'paths!': mapOf(/^\//, item),
    components: fields({ schemas: mapOf(/^[\w.-]+$/, schema), securitySchemes: mapOf(/^[\w.-]+$/, securityScheme) }),
  }),
};

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly description?: string;
    readonly required: boolean;
  }[];
  readonly security: readonly Json[];
}

/** What no field can say of itself: names that must be unique, or lead somewhere. */
function crossProblems(document: Json): string[] {
  const paths = document['paths'] as Record<string, Record<string, Operation>>;
  const components = document['components'] as { schemas: Json; securitySchemes: Json };
  const tags = (document['tags'] as { name: string }[]).map(({ name }) => name);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ ...one, path, where: `${method} ${path}` })),
  );
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
    ([, name]) => name ?? '',
  );
  return [
    ...twice(tags).map((tag) => `the tag ${tag} is there twice`),
    ...twice(operations.map(({ operationId }) => operationId)).map((id) => `the operationId ${id} is there twice`),
    ...twice(Object.keys(paths).map((path) => path.replace(/\{\w+\}/g, '{}'))).map((path) => `${path} is there twice`),
    ...references.filter((name) => !(name in components.schemas)).map((name) => `there is no schema ${name}`),
    ...operations.flatMap((one) => [
      ...parameterProblems(one),
      ...one.tags.filter((tag) => !tags.includes(tag)).map((tag) => `${one.where}: there is no tag ${tag}`),
      ...one.security
        .flatMap(Object.keys)
        .filter((name) => !(name in components.securitySchemes))
        .map((name) => `${one.where}: there is no security scheme ${name}`),
    ]),
  ];
}

function parameterProblems({ path, where, parameters }: Operation & { path: string; where: string }): string[] {
  const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '').sort();
  const described = parameters.filter((one) => one.in === 'path');
  const silent = parameters.filter(({ description }) => description === undefined || description === '');
  const names = described.map(({ name }) => name).sort();
  return [
    ...(names.join() === placeholders.join() ? [] : [`${where}: its parameters are ${names.join()}`]),
    ...silent.map(({ name }) => `${where}: nothing is said of ${name}`),
    ...described.filter(({ required }) => !required).map(({ name }) => `${where}: ${name} must be required`),
    ...twice(parameters.map((one) => `${one.in} ${one.name}`)).map((one) => `${where}: ${one} is there twice`),
  ];
}

function twice(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
