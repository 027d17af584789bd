/** An operation of an OpenAPI document, as far as a page shows it. */

type Json = Readonly<Record<string, unknown>>;

export interface DocumentedOperation {
  readonly id: string;
  readonly group: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly access: string;
  readonly section: string | null;
  readonly parameters: readonly (readonly string[])[];
  readonly bodies: readonly { readonly mediaType: string; readonly schema: Json }[];
  readonly answers: readonly {
    readonly status: string;
    readonly mediaType: string;
    readonly schema: Json;
    readonly note: string;
  }[];
  /** Status and its codes. */
  readonly errors: readonly (readonly string[])[];
}

interface Source {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters: readonly { name: string; in: string; description: string; required: boolean; schema: Json }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
  readonly responses: Readonly<
    Record<
      string,
      { readonly description: string; readonly content?: Readonly<Record<string, { readonly schema: Json }>> }
    >
  >;
  readonly 'x-access': string;
  readonly 'x-section': string | null;
}

export function operationsOf(document: Json): DocumentedOperation[] {
  const paths = document['paths'] as Record<string, Record<string, Source>>;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, source]) => documented(method.toUpperCase(), path, source)),
  );
  return operations.sort((one, other) => (one.group < other.group ? -1 : one.group > other.group ? 1 : 0));
}

function documented(method: string, path: string, source: Source): DocumentedOperation {
  const responses = Object.entries(source.responses);
  return {
    id: source.operationId,
    group: source.tags[0] ?? '',
    method,
    path,
    summary: source.summary,
    access: source['x-access'],
    section: source['x-section'],
    parameters: source.parameters.map(({ name, in: place, description, required, schema }) => [
      name,
      place,
      describeSchema(schema),
      required ? 'required' : '',
      description,
    ]),
    bodies: Object.entries(source.requestBody?.content ?? {}).map(([mediaType, { schema }]) => ({ mediaType, schema })),
    answers: responses
      .filter(([status]) => status < '400')
      .flatMap(([status, { description: note, content }]) =>
        content === undefined
          ? [{ status, mediaType: '', schema: {}, note }]
          : Object.entries(content).map(([mediaType, { schema }]) => ({ status, mediaType, schema, note })),
      ),
    errors: responses.filter(([status]) => status >= '400').map(([status, { description }]) => [status, description]),
  };
}

/** What the search looks at. */
export function wordsOf(operation: DocumentedOperation): string {
  return JSON.stringify(operation).toLowerCase();
}

/** A schema as one would write its values, with types in the place of values. */
export function describeSchema(schema: Json, indent = ''): string {
  const { type, items, properties, patternProperties, required } = schema as {
    type?: string | string[];
    items?: Json;
    properties?: Readonly<Record<string, Json>>;
    patternProperties?: Readonly<Record<string, Json>>;
    required?: readonly string[];
  };
  const deeper = `${indent}  `;
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(
      ([name, field]) =>
        `${deeper}${name}${required?.includes(name) === true ? '' : '?'}: ${describeSchema(field, deeper)}`,
    );
    return fields.length === 0 ? '{}' : `{\n${fields.join('\n')}\n${indent}}`;
  }
  if (patternProperties !== undefined) {
    return `{ <name>: ${Object.values(patternProperties)
      .map((value) => describeSchema(value, deeper))
      .join(' | ')} }`;
  }
  const types = [type ?? 'anything'].flat().filter((one) => one !== 'array' || items === undefined);
  return [...types, ...(items === undefined ? [] : [`[${describeSchema(items, indent)}]`])].join(' | ');
}

/** A command line that asks for it; the body is one that has every field. */
export function curlOf({ method, path, access, parameters, bodies }: DocumentedOperation, prefix: string): string {
  const needed = parameters.filter(([, place, , required]) => place === 'query' && required !== '');
  const shown = needed.map(([name = '']) => `${name}=<${name}>`);
  const url = `${prefix}${path.replace(/\{(\w+)\}/g, '<$1>')}${shown.length === 0 ? '' : `?${shown.join('&')}`}`;
  const [body] = bodies;
  const lines = [
    `curl -X ${method} "$TANCHO_TARGET${url}"`,
    ...(access === 'public' ? [] : ['-H "Authorization: bearer $TANCHO_TOKEN"']),
    ...(body === undefined || method === 'GET'
      ? []
      : [`-H 'Content-Type: ${body.mediaType}'`, `--data-binary '${sampleOf(body.mediaType, body.schema)}'`]),
  ];
  return lines.join(' \\\n  ');
}

function sampleOf(mediaType: string, schema: Json): string {
  const { type, properties, patternProperties } = schema as {
    type?: string;
    properties?: Readonly<Record<string, Json>>;
    patternProperties?: Json;
  };
  const names = Object.keys(properties ?? {});
  if (mediaType === 'application/json') {
    if (type === 'array') return '["<item>"]';
    if (patternProperties !== undefined) return '{"<name>": "<value>"}';
    return JSON.stringify(Object.fromEntries(names.map((name) => [name, `<${name}>`])));
  }
  if (mediaType === 'application/x-www-form-urlencoded')
    return names.map((name) => `${name}=<${name}>`).join('&') || '<name>=<value>';
  return '<text>';
}
