/** Quotas (specification 4.4), and what later clients ask instead. */
import { Type } from '../schema.ts';
import { empty, json, type Operation } from '../operation.ts';
import { appParams } from './fields.ts';

const userParams = Type.Object({ email: Type.String() });
const limitBody = Type.Object({
  limit: Type.Optional(Type.Unsafe<number | string | null>({ type: ['integer', 'string', 'null'] })),
});

export const quotaOperations: readonly Operation[] = [
  json({
    id: 'quotas.user',
    section: '4.4',
    summary: 'How many apps a user owns, and how many more may come.',
    method: 'GET',
    path: '/quota/:user',
    access: 'user',
    params: Type.Object({ user: Type.String() }),
    shape: 'quota',
    errors: ['user.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { params }) => useCases.quotas.ofUser(caller, params.user),
  }),
  json({
    id: 'quotas.user_limit',
    section: null,
    summary: 'How many apps a user owns and may own; -1 is without limit.',
    method: 'GET',
    path: '/users/:email/quota',
    access: 'user',
    params: userParams,
    shape: 'limit',
    errors: ['user.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { params }) => useCases.quotas.ofUser(caller, params.email),
  }),
  empty({
    id: 'quotas.set_user_limit',
    section: null,
    summary: 'Set how many apps a user may own; for admins.',
    method: 'PUT',
    path: '/users/:email/quota',
    also: [{ method: 'POST', path: '/users/:email/quota' }],
    access: 'user',
    params: userParams,
    body: limitBody,
    errors: ['input.invalid_json', 'user.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { params, body }) => useCases.quotas.setUser(caller, params.email, body.limit),
  }),
  json({
    id: 'quotas.app_limit',
    section: null,
    summary: 'How many units an app has and may have; -1 is without limit.',
    method: 'GET',
    path: '/apps/:app/quota',
    access: 'user',
    params: appParams,
    shape: 'limit',
    errors: ['app.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { params }) => useCases.quotas.ofApp(caller, params.app),
  }),
  empty({
    id: 'quotas.set_app_limit',
    section: null,
    summary: 'Set how many units an app may have; for admins.',
    method: 'PUT',
    path: '/apps/:app/quota',
    also: [{ method: 'POST', path: '/apps/:app/quota' }],
    access: 'user',
    params: appParams,
    body: limitBody,
    errors: ['input.invalid_json', 'app.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { params, body }) => useCases.quotas.setApp(caller, params.app, body.limit),
  }),
];
