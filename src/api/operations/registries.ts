/** Logins at registries of images. Beyond the specification. */
import { Type } from '../schema.ts';
import { empty, json, type Operation } from '../operation.ts';
import { optionalText, queryText } from './fields.ts';

const params = Type.Object({ host: Type.String() });
const errors = ['access.denied', 'team.not_found', 'registry.invalid', 'input.invalid_json'] as const;

export const registryOperations: readonly Operation[] = [
  json({
    id: 'registries.list',
    section: null,
    summary: 'List the logins at registries of images, without their passwords.',
    method: 'GET',
    path: '/registries',
    access: 'user',
    shape: 'registryLogins',
    stands: true,
    errors: [],
    handle: ({ useCases, caller }) => useCases.registries.list(caller),
  }),
  empty({
    id: 'registries.login',
    section: null,
    summary: 'Keep a user and password for a registry, for the apps of a team or, by an admin, of all.',
    method: 'PUT',
    path: '/registries/:host',
    access: 'user',
    params,
    body: Type.Object({ team: optionalText, user: optionalText, password: optionalText }),
    errors: [...errors, 'quota.exceeded'],
    handle: ({ useCases, caller }, { params: { host }, body: { team, user, password } }) =>
      useCases.registries.login(caller, { host, team: team ?? '', user, password }),
  }),
  empty({
    id: 'registries.logout',
    section: null,
    summary: 'Forget the login at a registry.',
    method: 'DELETE',
    path: '/registries/:host',
    access: 'user',
    params,
    query: Type.Object({ team: queryText }),
    errors: [...errors, 'registry.not_found'],
    handle: ({ useCases, caller }, { params: { host }, query: { team = '' } }) =>
      useCases.registries.logout(caller, host, team),
  }),
];
