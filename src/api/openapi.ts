/** The OpenAPI 3.1 document of a variant, from the table of operations. */
import type { TSchema } from 'typebox';
import type { ErrorCode } from '../domain/errors.ts';
import { FORM } from './body.ts';
import type { Operation } from './operation.ts';
import { JSON_STREAM } from './progress-answer.ts';
import { type Route, routesOf } from './routes.ts';
import { COMMON_ERRORS, STATUS } from './status.ts';
import type { Variant } from './variants.ts';

type Json = Record<string, unknown>;

export function openApi(variant: Variant, version: string): Json {
  const paths: Record<string, Json> = {};
  const seen = new Set<string>();
  for (const route of routesOf(variant)) {
    const path = route.path.slice(variant.prefix.length).replace(/:(\w+)/g, '{$1}');
    const item = (paths[path] ??= {});
    const twin = seen.has(route.operation.id);
    seen.add(route.operation.id);
    item[route.method.toLowerCase()] = describe(route, twin);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Tancho', version, description: 'Application platform management API.' },
    servers: [{ url: variant.prefix === '' ? '/' : variant.prefix }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: PROBLEM },
    },
  };
}

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

function describe(route: Route, twin: boolean): Json {
  const { operation } = route;
  const body = requestBody(operation);
  return {
    operationId: twin ? `${operation.id}:${route.method.toLowerCase()}:${route.path}` : operation.id,
    summary: operation.summary,
    tags: [operation.section ?? 'beyond the specification'],
    parameters: [
      ...parameters('path', operation.params, placeholders(route.path)),
      ...parameters('query', operation.query, null),
    ],
    ...(body !== null && { requestBody: body }),
    responses: { [statusOf(operation)]: answer(route), ...failures(operation) },
    security: operation.access === 'public' ? [] : [{ token: [] }],
    'x-access': operation.access,
    'x-errors': errorsOf(operation),
  };
}

/** Every code the operation can end with. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const access: ErrorCode[] = operation.access === 'public' ? [] : ['auth.required', 'access.denied'];
  const body: ErrorCode[] = operation.body === undefined && operation.rawBody === undefined ? [] : ['input.too_large'];
  return [...new Set([...operation.errors, ...access, ...body, ...COMMON_ERRORS])].sort();
}

function placeholders(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');
}

function parameters(place: 'path' | 'query', schema: TSchema | undefined, only: readonly string[] | null): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  return Object.entries(properties)
    .filter(([name]) => only === null || only.includes(name))
    .map(([name, field]) => ({
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      schema: field,
    }));
}

function requestBody(operation: Operation): Json | null {
  if (operation.rawBody !== undefined) {
    const { mediaType, schema } = operation.rawBody;
    return { required: operation.method === 'POST', content: { [mediaType]: { schema } } };
  }
  if (operation.body === undefined) return null;
  const media = { schema: operation.body };
  return { required: operation.isBodyOptional !== true, content: { 'application/json': media, [FORM]: media } };
}

function statusOf(operation: Operation): number {
  return (operation.answer === 'empty' ? operation.status : undefined) ?? 200;
}

function answer({ operation, variant }: Route): Json {
  if (operation.answer === 'empty') return { description: 'Done; no body.' };
  if (operation.answer === 'json' || operation.answer === 'entries') {
    const { schema } = variant.shapes[operation.shape];
    return { description: 'The document.', content: { 'application/json': { schema } } };
  }
  if (operation.answer === 'proxied') return { description: 'What the provider answers, with its status.' };
  if (operation.answer === 'text') return { description: 'One line.', content: { 'text/plain': {} } };
  const frame = {
    type: 'object',
    required: ['Message'],
    properties: { Message: { type: 'string' }, Error: { type: 'string' } },
  };
  return {
    description: 'One JSON object per line; a line with Error means that the operation failed.',
    content: { [JSON_STREAM]: { schema: frame } },
  };
}

function failures(operation: Operation): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(operation)) byStatus.set(STATUS[code], [...(byStatus.get(STATUS[code]) ?? []), code]);
  const content = {
    'text/plain': { schema: { type: 'string' } },
    'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
  };
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [String(status), { description: codes.join(', '), content }]),
  );
}
