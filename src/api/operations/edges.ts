/** Edges of their own, on other machines, and the tokens by which they follow. Beyond the specification. */
import { edge, empty, json, type Operation } from '../operation.ts';
import { Type } from '../schema.ts';
import { optionalText } from './fields.ts';

export const edgeOperations: readonly Operation[] = [
  json({
    id: 'edges.list',
    section: null,
    summary: 'List the edges on other machines, with the server that each follows; for admins.',
    method: 'GET',
    path: '/edges',
    access: 'user',
    shape: 'edges',
    errors: ['access.denied'],
    handle: ({ useCases, caller }) => useCases.edges.list(caller),
  }),
  json({
    id: 'edge_tokens.list',
    section: null,
    summary: 'List the tokens by which edges follow, without what they are; for admins.',
    method: 'GET',
    path: '/edges/tokens',
    access: 'user',
    shape: 'edgeTokens',
    errors: ['access.denied'],
    handle: ({ useCases, caller }) => useCases.edges.tokens.list(caller),
  }),
  json({
    id: 'edge_tokens.create',
    section: null,
    summary: 'Make a token by which edges on other machines follow; it is shown once. For admins.',
    method: 'POST',
    path: '/edges/tokens',
    access: 'user',
    body: Type.Object({ name: optionalText }),
    shape: 'edgeToken',
    errors: ['input.invalid_json', 'input.invalid', 'access.denied'],
    handle: ({ useCases, caller }, { body }) => useCases.edges.tokens.create(caller, body.name ?? ''),
  }),
  empty({
    id: 'edge_tokens.revoke',
    section: null,
    summary: 'End a token: the edges that follow by it follow no more, and serve by what they know. For admins.',
    method: 'DELETE',
    path: '/edges/tokens/:token',
    access: 'user',
    params: Type.Object({ token: Type.String() }),
    errors: ['access.denied', 'token.not_found'],
    handle: ({ useCases, caller }, { params }) => useCases.edges.tokens.revoke(caller, params.token),
  }),
  edge({
    id: 'edges.follow',
    section: null,
    summary: 'Follow this server as an edge, by a token of edges: a websocket over which it learns what it serves by.',
    method: 'GET',
    path: '/edges/follow',
    access: 'public',
    query: Type.Object({
      name: Type.Optional(Type.String()),
      instance: Type.Optional(Type.String()),
      program: Type.Optional(Type.String()),
    }),
    errors: ['auth.required', 'input.invalid'],
    handle: ({ useCases, address }, { query: { name = '', instance = '', program = '' } }, token) =>
      useCases.edges.admit(token, { name, instance, program, address }),
  }),
];
