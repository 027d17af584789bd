/** Pools (specification 4.1); their administration is beyond it. */
import { empty, json, type Operation } from '../operation.ts';
import { Type } from '../schema.ts';
import { optionalText, repeatedText } from './fields.ts';
import { flag, OPTIONS_BODY, optionsBody } from './options-input.ts';
import { readPool, readTeams } from './pool-input.ts';

/** The oldest clients name the pool in the body. */
const params = Type.Object({ pool: Type.Optional(Type.String()) });
/** Options of a pool for its engine: JSON only; in a form they are `option=<name>=<value>`. */
const poolOptions = Type.Optional(Type.Unsafe<Readonly<Record<string, string>> | null>({ type: ['object', 'null'] }));
const place = { engine: optionalText, options: poolOptions, option: repeatedText };
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
    also: [{ method: 'GET', path: '/pool' }],
    access: 'user',
    shape: 'pools',
    errors: [],
    handle: ({ useCases, caller }) => useCases.pools.list(caller),
  }),
  empty({
    id: 'pools.create',
    section: null,
    summary:
      'Create a pool, and say which engine runs its apps; unless it is public only teams with access may use it.',
    method: 'POST',
    path: '/pools',
    also: [{ method: 'POST', path: '/pool' }],
    access: 'user',
    rawBody: optionsBody({ name: optionalText, pool: optionalText, public: flag, default: flag, ...place }),
    errors: ['pool.invalid_name', 'pool.name_taken', 'pool.in_use', 'input.invalid_json'],
    handle: ({ useCases, caller }, { body }) => useCases.pools.create(caller, readPool(body)),
  }),
  empty({
    id: 'pools.update',
    section: null,
    summary: 'Open a pool to all teams, or close it to all but those with access; put one without apps elsewhere.',
    method: 'PUT',
    path: '/pools/:pool',
    also: [{ method: 'POST', path: '/pool/:pool' }],
    access: 'user',
    params,
    rawBody: optionsBody({ public: flag, default: flag, ...place }),
    errors: ['pool.not_found', 'pool.in_use', 'input.invalid_json'],
    handle: ({ useCases, caller }, { params, body }) => {
      const { name, ...change } = readPool(body, params.pool);
      return useCases.pools.update(caller, name, change);
    },
  }),
  empty({
    id: 'pools.remove',
    section: null,
    summary: 'Remove a pool without apps.',
    method: 'DELETE',
    path: '/pools/:pool',
    also: [{ method: 'DELETE', path: '/pool' }],
    access: 'user',
    params,
    rawBody: OPTIONS_BODY,
    errors: ['pool.not_found', 'pool.in_use', 'input.invalid_json'],
    handle: ({ useCases, caller }, { params, body }) => useCases.pools.remove(caller, readPool(body, params.pool).name),
  }),
  empty({
    id: 'pools.team_add',
    section: null,
    summary: 'Give teams access to a pool.',
    method: 'POST',
    path: '/pools/:pool/team',
    also: [
      { method: 'POST', path: '/pool/:pool/team' },
      { method: 'POST', path: '/pool/team' },
    ],
    access: 'user',
    params,
    query: Type.Object({ team: repeatedText }),
    rawBody: OPTIONS_BODY,
    errors: teamErrors,
    handle: ({ useCases, caller }, { params, query, body }) =>
      useCases.pools.addTeams(caller, readPool(body, params.pool).name, readTeams(body, query)),
  }),
  empty({
    id: 'pools.team_remove',
    section: null,
    summary: "Take teams' access to a pool away.",
    method: 'DELETE',
    path: '/pools/:pool/team',
    also: [
      { method: 'DELETE', path: '/pool/:pool/team' },
      { method: 'DELETE', path: '/pool/team' },
    ],
    access: 'user',
    params,
    query: Type.Object({ team: repeatedText }),
    rawBody: OPTIONS_BODY,
    errors: teamErrors,
    handle: ({ useCases, caller }, { params, query, body }) =>
      useCases.pools.removeTeams(caller, readPool(body, params.pool).name, readTeams(body, query)),
  }),
];
