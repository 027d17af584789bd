/** Pools (specification 4.1); their administration is beyond it. */
import { readFlag } from '../body.ts';
import { empty, json, type Operation } from '../operation.ts';
import { Type } from '../schema.ts';
import { optionalText, repeatedText } from './fields.ts';
import { OPTIONS_BODY, readValues } from './options-input.ts';
import { PlatformError } from '../../domain/errors.ts';

const params = Type.Object({ pool: Type.String() });
const teamErrors = ['pool.not_found', 'pool.in_use', 'team.not_found', 'input.invalid_json'] as const;

export const poolOperations: readonly Operation[] = [
  json({
    id: 'pools.list',
    section: '4.1',
    summary: "List the pools that the apps of the caller's teams may be in.",
    method: 'GET',
    path: '/pools',
    access: 'user',
    shape: 'teamPools',
    errors: [],
    handle: ({ useCases, caller }) => useCases.pools.byTeam(caller),
  }),
  json({
    id: 'pools.list_all',
    section: null,
    summary: 'List the pools that the caller may use, as clients from 1.0 on read them.',
    method: 'GET',
    path: '/1.0/pools',
    access: 'user',
    shape: 'pools',
    errors: [],
    handle: ({ useCases, caller }) => useCases.pools.list(caller),
  }),
  empty({
    id: 'pools.create',
    section: null,
    summary: 'Create a pool; unless it is public only teams with access may use it.',
    method: 'POST',
    path: '/pools',
    access: 'user',
    body: Type.Object({ name: optionalText, public: Type.Optional(Type.Boolean()) }),
    errors: ['pool.invalid_name', 'pool.name_taken', 'input.invalid_json'],
    handle: ({ useCases, caller }, { body }) =>
      useCases.pools.create(caller, { name: body.name, isPublic: readFlag('public', body.public) }),
  }),
  empty({
    id: 'pools.remove',
    section: null,
    summary: 'Remove a pool without apps.',
    method: 'DELETE',
    path: '/pools/:pool',
    access: 'user',
    params,
    errors: ['pool.not_found', 'pool.in_use'],
    handle: ({ useCases, caller }, { params: { pool } }) => useCases.pools.remove(caller, pool),
  }),
  empty({
    id: 'pools.team_add',
    section: null,
    summary: 'Give teams access to a pool.',
    method: 'POST',
    path: '/pools/:pool/team',
    access: 'user',
    params,
    query: Type.Object({ team: repeatedText }),
    rawBody: OPTIONS_BODY,
    errors: teamErrors,
    handle: ({ useCases, caller }, { params: { pool }, query, body }) =>
      useCases.pools.addTeams(caller, pool, teamNames(readValues(body, query, 'team'))),
  }),
  empty({
    id: 'pools.team_remove',
    section: null,
    summary: "Take teams' access to a pool away.",
    method: 'DELETE',
    path: '/pools/:pool/team',
    access: 'user',
    params,
    query: Type.Object({ team: repeatedText }),
    rawBody: OPTIONS_BODY,
    errors: teamErrors,
    handle: ({ useCases, caller }, { params: { pool }, query, body }) =>
      useCases.pools.removeTeams(caller, pool, teamNames(readValues(body, query, 'team'))),
  }),
];

function teamNames(values: readonly unknown[]): string[] {
  const names = values.filter((value) => typeof value === 'string');
  if (names.length > 0 && names.length === values.length) return names;
  throw new PlatformError('input.invalid', 'You must provide the team.', {
    hint: 'Send team=<team>, repeated for more.',
  });
}
