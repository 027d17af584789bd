/** The OpenAPI 3.1 document of a variant, from the table of operations. */
import type { TSchema } from 'typebox';
import type { ErrorCode } from '../domain/errors.ts';
import { FORM } from './body.ts';
import { EVENT_STREAM } from './event-answer.ts';
import { changes, type Operation } from './operation.ts';
import { wordsForParameter } from './parameter-words.ts';
import { JSON_STREAM } from './progress-answer.ts';
import { type ApiRoute, routesOf } from './routes.ts';
import { COMMON_ERRORS, STATUS } from './status.ts';
import type { Variant } from './variants.ts';

type Json = Record<string, unknown>;

export function openApi(variant: Variant, version: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of routesOf(variant)) {
    const path = route.path.slice(variant.prefix.length).replace(/:(\w+)/g, '{$1}');
    const item = (paths[path] ??= {});
    item[route.method.toLowerCase()] = describe(route);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Tancho', version, description: 'Application platform management API.', license: LICENSE },
    servers: [{ url: variant.prefix === '' ? '/' : variant.prefix }],
    tags: [...new Set(routesOf(variant).map(({ operation }) => groupOf(operation)))].sort().map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: TOKEN } },
      schemas: { Problem: PROBLEM },
    },
  };
}

const TOKEN =
  'The token of POST /users/{email}/tokens, or an API key. The word before it is ignored and may be missing.';
const LICENSE = { name: 'Apache-2.0', identifier: 'Apache-2.0' };
/** Distinguished from the platform's own errors by the absence of their header. */
const PASSED_ON = { description: 'What the provider answers, as it is.', content: { '*/*': {} } };
const TEXT = { 'text/plain': { schema: { type: 'string' } } };

const PROBLEM = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'requestId', 'details'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string' },
    hint: { type: 'string' },
    requestId: { type: 'string' },
    details: { type: 'object' },
  },
};

function describe(route: ApiRoute): Json {
  const { operation } = route;
  const body = requestBody(operation);
  return {
    operationId: operationId(route),
    summary: operation.summary,
    tags: [groupOf(operation)],
    parameters: [...parameters('path', operation, placeholders(route.path)), ...parameters('query', operation, null)],
    ...(body !== null && { requestBody: body }),
    responses: {
      [statusOf(operation)]: answer(route),
      ...failures(operation),
      ...(operation.answer === 'proxied' && { default: PASSED_ON }),
    },
    security: operation.access === 'public' ? [] : [{ token: [] }],
    'x-section': operation.section,
    'x-access': operation.access,
    'x-errors': errorsOf(operation),
  };
}

/** The operation's own id at its own place; its further ways in say, after a dash, what is other about them. */
function operationId({ operation, variant, method, path }: ApiRoute): string {
  const [own = operation.path] = variant.paths[operation.id] ?? [];
  const way = `${operation.id}-${method.toLowerCase()}`;
  if (path !== variant.prefix + own) return `${way}-at${path.slice(variant.prefix.length).replace(/\W+/g, '-')}`;
  return method === operation.method ? operation.id : way;
}

/** The noun of its id: `app_tokens.create` -> `app tokens`. */
function groupOf({ id }: Operation): string {
  return (id.split('.', 1)[0] ?? '').replaceAll('_', ' ');
}

/** Every code the operation can end with. */
function errorsOf(operation: Operation): ErrorCode[] {
  const access: ErrorCode[] = [
    ...(operation.access === 'public' ? [] : (['auth.required'] as const)),
    // What changes something is refused to pages of other sites.
    ...(operation.access !== 'public' || changes(operation) ? (['access.denied'] as const) : []),
  ];
  return [...new Set([...operation.errors, ...access, ...COMMON_ERRORS])].sort();
}

function placeholders(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');
}

function parameters(place: 'path' | 'query', operation: Operation, only: readonly string[] | null): Json[] {
  const { properties = {}, required = [] } = ((place === 'path' ? operation.params : operation.query) ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  const isRequired = (name: string): boolean =>
    place === 'path' || required.includes(name) || operation.requiredQuery?.includes(name) === true;
  return Object.entries(properties)
    .filter(([name]) => only === null || only.includes(name))
    .map(([name, field]) => ({
      name,
      in: place,
      description: wordsForParameter(operation.id, name),
      required: isRequired(name),
      schema: field,
    }));
}

function requestBody(operation: Operation): Json | null {
  if (operation.rawBody !== undefined) {
    const { mediaType, schema } = operation.rawBody;
    // Options may be left out, and come in either form.
    if (mediaType === FORM) return { required: false, content: { 'application/json': { schema }, [FORM]: { schema } } };
    return { required: operation.method === 'POST', content: { [mediaType]: { schema } } };
  }
  if (operation.body === undefined) return null;
  const media = { schema: operation.body };
  return { required: operation.isBodyOptional !== true, content: { 'application/json': media, [FORM]: media } };
}

function statusOf(operation: Operation): number {
  return (operation.answer === 'empty' ? operation.status : undefined) ?? 200;
}

function answer({ operation, variant, method }: ApiRoute): Json {
  if (operation.answer === 'empty') return { description: 'Done; no body.' };
  if (operation.answer === 'json' || operation.answer === 'entries') {
    const { schema } = variant.shapes[operation.shape];
    const events = { [EVENT_STREAM]: { schema: { type: 'string' } } };
    const content = { 'application/json': { schema }, ...(operation.answer === 'entries' && events) };
    return { description: 'The document.', content };
  }
  if (operation.answer === 'proxied') {
    return { description: 'What the provider answers, with its status.', content: { '*/*': { schema: {} } } };
  }
  if (operation.answer === 'text') return { description: 'One line.', content: TEXT };
  const frame = {
    type: 'object',
    required: ['Message'],
    properties: { Message: { type: 'string' }, Error: { type: 'string' } },
  };
  if (operation.answer === 'shell' || operation.answer === 'edge')
    return { description: 'Only to requests that switch to a websocket: see docs/api.md.' };
  if (operation.answer === 'upload') {
    const description = 'What is done, line by line; as text it ends in a line OK, or in the error.';
    return { description, content: { 'text/plain': { schema: { type: 'string' } }, [JSON_STREAM]: { schema: frame } } };
  }
  const isRead = operation.answer === 'progress' && operation.textTo?.includes(method) === true;
  return {
    description: 'One JSON object per line; a line with Error means that the operation failed.',
    content: {
      [JSON_STREAM]: { schema: frame },
      // To whoever asks for no stream.
      ...(isRead && TEXT),
      // To clients that ask for text: the bare output, with the exit code in the trailer X-Exit-Code.
      ...(operation.answer === 'output' && variant.extensions && TEXT),
    },
  };
}

function failures(operation: Operation): Json {
  const byStatus = Map.groupBy(errorsOf(operation), (code) => STATUS[code]);
  const content = {
    ...TEXT,
    'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
  };
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      { description: codes.join(', '), headers: headersOf(status), content },
    ]),
  );
}

const TEXT_HEADER = { required: true, schema: { type: 'string' } };

/** Of errors, in lower case as they arrive. */
function headersOf(status: number): Json {
  return {
    'x-tancho-error': { description: 'The code of the error.', ...TEXT_HEADER },
    'x-request-id': { description: 'Under which the server has logged it.', ...TEXT_HEADER },
    ...(status === 401 && { 'www-authenticate': { description: 'How to log in.', ...TEXT_HEADER } }),
    ...(status === 429 && { 'retry-after': { description: 'Seconds to wait.', ...TEXT_HEADER } }),
  };
}
