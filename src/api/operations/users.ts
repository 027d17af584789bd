/** Users (specification 4.7): accounts, login and logout, SSH keys. */
import { Type } from '../schema.ts';
import { empty, json, type Operation } from '../operation.ts';
import { optionalText, queryText } from './fields.ts';

const section = '4.7';
const key = Type.Object({ key: optionalText, name: optionalText });

export const userOperations: readonly Operation[] = [
  empty({
    id: 'users.create',
    section,
    summary: 'Create an account.',
    method: 'POST',
    path: '/users',
    access: 'public',
    body: Type.Object({ email: optionalText, password: optionalText }),
    errors: [
      'input.invalid_json',
      'user.invalid_email',
      'user.invalid_password',
      'user.email_taken',
      'auth.registration_closed',
    ],
    handle: async ({ useCases, caller, host }, { body }) => {
      await useCases.users.create(caller, { email: body.email, password: body.password }, host);
    },
  }),
  json({
    id: 'users.login',
    section,
    summary: 'Log in: a token for the password.',
    method: 'POST',
    path: '/users/:email/tokens',
    access: 'public',
    params: Type.Object({ email: Type.String() }),
    body: Type.Object({ password: optionalText }),
    shape: 'login',
    errors: ['input.invalid_json', 'user.invalid_password', 'user.not_found', 'auth.wrong_password', 'auth.throttled'],
    handle: ({ useCases, address }, { params, body }) => useCases.users.login(params.email, body.password, address),
  }),
  empty({
    id: 'users.logout',
    section,
    summary: 'Log out: the presented token ends.',
    method: 'DELETE',
    path: '/users/tokens',
    access: 'user',
    errors: [],
    handle: ({ useCases, caller }) => useCases.users.logout(caller),
  }),
  empty({
    id: 'users.logout_everywhere',
    section: null,
    summary: 'Log out everywhere: every session of the caller ends, this one included.',
    method: 'DELETE',
    path: '/users/sessions',
    access: 'user',
    errors: [],
    handle: async ({ useCases, caller, browser }) => {
      await useCases.users.logoutEverywhere(caller);
      browser?.forget();
    },
  }),
  json({
    id: 'users.info',
    section,
    summary: 'Show who the caller is.',
    method: 'GET',
    path: '/users/info',
    access: 'user',
    shape: 'userInfo',
    errors: [],
    handle: ({ useCases, caller }) => useCases.users.info(caller),
  }),
  json({
    id: 'users.list',
    section: null,
    summary: 'List the users: all for an admin, otherwise the caller alone.',
    method: 'GET',
    path: '/users',
    access: 'user',
    query: Type.Object({ userEmail: queryText, role: queryText, context: queryText }),
    shape: 'users',
    errors: [],
    handle: async ({ useCases, caller }, { query }) => {
      const wanted = (query.userEmail ?? '').trim().toLowerCase();
      // There are no roles, so nobody has one.
      if (query.role) return [];
      return (await useCases.users.list(caller)).filter(({ email }) => wanted === '' || email === wanted);
    },
  }),
  empty({
    id: 'users.remove',
    section,
    summary: 'Remove the account of the caller, or, for admins, the one that is named.',
    method: 'DELETE',
    path: '/users',
    access: 'user',
    query: Type.Object({ user: queryText }),
    errors: ['user.not_found', 'user.last_admin', 'user.owns_apps', 'user.last_member'],
    // Heeded in every variant: whoever names somebody else must never remove themselves.
    handle: ({ useCases, caller }, { query }) => useCases.users.remove(caller, query.user),
  }),
  empty({
    id: 'users.make_admin',
    section: null,
    summary: 'Make a user an admin.',
    method: 'PUT',
    path: '/users/:email/admin',
    also: [{ method: 'POST', path: '/users/:email/admin' }],
    access: 'user',
    params: Type.Object({ email: Type.String() }),
    errors: ['user.not_found'],
    handle: ({ useCases, caller }, { params }) => useCases.users.setAdmin(caller, params.email, true),
  }),
  empty({
    id: 'users.unmake_admin',
    section: null,
    summary: 'Make an admin a user like others; the last one stays.',
    method: 'DELETE',
    path: '/users/:email/admin',
    access: 'user',
    params: Type.Object({ email: Type.String() }),
    errors: ['user.not_found', 'user.last_admin'],
    handle: ({ useCases, caller }, { params }) => useCases.users.setAdmin(caller, params.email, false),
  }),
  json({
    id: 'auth.scheme',
    section: null,
    summary: 'How one logs in here: with a password.',
    method: 'GET',
    path: '/auth/scheme',
    access: 'public',
    shape: 'authScheme',
    errors: [],
    handle: async () => ({ name: 'native', data: null }),
  }),
  json({
    id: 'auth.login',
    section: null,
    summary: 'Log in, with the e-mail in the body.',
    method: 'POST',
    path: '/auth/login',
    access: 'public',
    body: Type.Object({ email: optionalText, password: optionalText }),
    shape: 'login',
    errors: ['input.invalid_json', 'user.invalid_password', 'user.not_found', 'auth.wrong_password', 'auth.throttled'],
    handle: ({ useCases, address }, { body }) => useCases.users.login(body.email ?? '', body.password, address),
  }),
  json({
    id: 'keys.list',
    section: null,
    summary: "List the caller's SSH keys by name.",
    method: 'GET',
    path: '/users/keys',
    access: 'user',
    shape: 'sshKeys',
    errors: [],
    handle: ({ useCases, caller }) => useCases.users.keys(caller),
  }),
  empty({
    id: 'keys.add',
    section,
    summary: 'Add an SSH public key.',
    method: 'POST',
    path: '/users/keys',
    access: 'user',
    body: Type.Object({ key: optionalText, name: optionalText, force: Type.Optional(Type.Boolean()) }),
    errors: ['input.invalid_json', 'key.invalid', 'key.taken', 'quota.exceeded'],
    handle: async ({ useCases, caller }, { body }) => {
      await useCases.users.addKey(caller, { key: body.key, name: body.name, force: body.force });
    },
  }),
  empty({
    id: 'keys.remove',
    section,
    summary: 'Remove an SSH public key, by its text or its name.',
    method: 'DELETE',
    path: '/users/keys',
    access: 'user',
    body: key,
    errors: ['input.invalid_json', 'key.invalid', 'key.not_found'],
    handle: ({ useCases, caller }, { body }) => useCases.users.removeKey(caller, body),
  }),
  empty({
    id: 'keys.remove_by_name',
    section: null,
    summary: 'Remove an SSH public key by its name.',
    method: 'DELETE',
    path: '/users/keys/:name',
    access: 'user',
    params: Type.Object({ name: Type.String() }),
    errors: ['key.not_found'],
    handle: ({ useCases, caller }, { params }) => useCases.users.removeKey(caller, params),
  }),
];
