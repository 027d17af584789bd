/** Writes the typed part of the client: what every operation takes and answers, from the OpenAPI document of the union. */
import { format, resolveConfig } from 'prettier';
import { type Described, type OpenApiDocument, operationsIn, type Schema } from '../contract/document.ts';

const HEAD =
  '/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */';
const FORM = 'application/x-www-form-urlencoded';

/** File name -> text. */
export async function clientSource(document: OpenApiDocument): Promise<ReadonlyMap<string, string>> {
  const groups = new Map<string, Described[]>();
  for (const operation of operationsIn(document)) {
    const name = fileOf(operation);
    // A further path to the same operation is for clients that know no other.
    if (!operation.operationId.includes('-at-')) groups.set(name, [...(groups.get(name) ?? []), operation]);
  }
  const files = new Map<string, string>();
  for (const [name, operations] of groups) files.set(`${name}.ts`, await pretty(groupSource(name, operations)));
  files.set('index.ts', await pretty(indexSource([...groups.keys()].sort())));
  return files;
}

function fileOf({ tags }: Described): string {
  return (tags[0] ?? '').replaceAll(' ', '-');
}

async function pretty(source: string): Promise<string> {
  const config = await resolveConfig(import.meta.filename);
  return format(source, { ...config, parser: 'typescript' });
}

function typeName(group: string): string {
  return group.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function constantName(group: string): string {
  return `${group.replace(/-/g, '_').toUpperCase()}_CALLS`;
}

function indexSource(groups: readonly string[]): string {
  const imports = groups.map(
    (group) => `import { ${constantName(group)}, type ${typeName(group)}Types } from './${group}.ts';`,
  );
  return `${HEAD}
${imports.join('\n')}

/** What operations take and answer, by id. */
export type Operations = ${groups.map((group) => `${typeName(group)}Types`).join(' & ')};

/** How operations are called, by id. */
export const CALLS = { ${groups.map((group) => `...${constantName(group)}`).join(', ')} } as const;
`;
}

function groupSource(group: string, operations: readonly Described[]): string {
  const sorted = operations.toSorted((one, other) => (one.operationId < other.operationId ? -1 : 1));
  const types = sorted.map((one) => `/** ${one.summary} */\n'${one.operationId}': { ${memberTypes(one)} };`);
  const calls = sorted.map((one) => `'${one.operationId}': ${JSON.stringify(callOf(one))},`);
  return `${HEAD}
export interface ${typeName(group)}Types {
${types.join('\n')}
}

export const ${constantName(group)} = {
${calls.join('\n')}
} as const;
`;
}

function callOf(operation: Described): object {
  const [body] = bodyOf(operation);
  return {
    method: operation.method,
    path: operation.path,
    ...(body !== undefined && { body }),
    answer: answerOf(operation).kind,
  };
}

function memberTypes(operation: Described): string {
  const params = operation.parameters.filter((one) => one.in === 'path').map(({ name }) => `readonly ${name}: string;`);
  const query = operation.parameters
    .filter((one) => one.in === 'query')
    .map(
      ({ name, required, schema }) =>
        `readonly ${keyOf(name)}${required ? '' : '?'}: ${queryType(schema)} | undefined;`,
    );
  const [, schema] = bodyOf(operation);
  const body = schema === undefined ? 'undefined' : typeOf(schema, 'body');
  const fields = [
    ...(params.length > 0 ? [`params: { ${params.join(' ')} };`] : []),
    ...(query.length > 0 ? [`query: { ${query.join(' ')} };`] : []),
    ...(schema === undefined ? [] : [`body: ${body};`]),
    `answer: ${answerOf(operation).type};`,
  ];
  return fields.map((field) => `readonly ${field}`).join(' ');
}

/** What goes into a query is written as text, whatever it is. */
function queryType({ type }: Schema): string {
  const one = 'string | number | boolean';
  return [type].flat().includes('array') ? `${one} | readonly string[]` : one;
}

function bodyOf({ requestBody, method }: Described): [mediaType?: string, schema?: Schema] {
  // A body of a GET is only tolerated.
  if (requestBody === undefined || method === 'GET') return [];
  const { content } = requestBody;
  const mediaType = ['application/json', FORM].find((type) => type in content) ?? Object.keys(content)[0];
  return mediaType === undefined ? [] : [mediaType, content[mediaType]?.schema ?? {}];
}

function answerOf({ responses }: Described): { kind: string; type: string } {
  const content = Object.entries(responses).find(([status]) => status < '300')?.[1].content;
  if (content === undefined) return { kind: 'none', type: 'void' };
  const json = content['application/json'];
  if (json !== undefined) {
    return { kind: json.schema?.type === 'array' ? 'list' : 'json', type: typeOf(json.schema ?? {}, 'answer') };
  }
  return 'application/x-json-stream' in content ? { kind: 'lines', type: 'void' } : { kind: 'text', type: 'string' };
}

function typeOf(schema: Schema, use: 'answer' | 'body'): string {
  const { type, items, properties, patternProperties, required = [] } = schema;
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, field]) => {
      const undefinedToo = use === 'body' && !required.includes(name) ? ' | undefined' : '';
      return `readonly ${keyOf(name)}${required.includes(name) ? '' : '?'}: ${typeOf(field, use)}${undefinedToo};`;
    });
    return `{ ${fields.join(' ')} }`;
  }
  const values = Object.values(patternProperties ?? {}).map((value) => typeOf(value, use));
  if (values.length > 0) return `Readonly<Record<string, ${values.join(' | ')}>>`;
  return [type ?? 'unknown']
    .flat()
    .map((one) => {
      if (one === 'array') return `readonly (${items === undefined ? 'string' : typeOf(items, use)})[]`;
      if (one === 'object') return 'Readonly<Record<string, unknown>>';
      return one === 'integer' ? 'number' : one;
    })
    .join(' | ');
}

function keyOf(name: string): string {
  return /^\w+$/.test(name) ? name : `'${name}'`;
}
