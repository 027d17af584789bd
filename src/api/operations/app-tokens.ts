/** App tokens (specification 4.9, Variant B). */
import { Type } from '../schema.ts';
import { empty, json, type Operation } from '../operation.ts';
import { appParams, optionalText, queryText } from './fields.ts';

/** `client` is what other servers call the app; the specification shows its name in the answer only. */
const newToken = Type.Object({
  client: optionalText,
  appName: optionalText,
  app: optionalText,
  export: Type.Optional(Type.Boolean()),
});

export const appTokenOperations: readonly Operation[] = [
  json({
    id: 'app_tokens.create',
    section: '4.9',
    summary: 'Make a token that acts on one app only.',
    method: 'POST',
    path: '/tokens',
    access: 'user',
    body: newToken,
    bodyInAnyCase: true,
    shape: 'appToken',
    errors: ['input.invalid_json', 'app.invalid_name', 'app.not_found', 'access.denied', 'app.busy', 'quota.exceeded'],
    handle: ({ useCases, caller }, { body }) =>
      useCases.appTokens.create(caller, {
        client: body.client || body.appName || body.app,
        isExported: body.export === true,
      }),
  }),
  json({
    id: 'app_tokens.list',
    section: null,
    summary: 'List the tokens of an app, without what they are.',
    method: 'GET',
    path: '/apps/:app/tokens',
    access: 'user',
    params: appParams,
    shape: 'appTokens',
    errors: ['app.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { params }) => useCases.appTokens.list(caller, params.app),
  }),
  empty({
    id: 'app_tokens.revoke_one',
    section: null,
    summary: 'End one token of an app.',
    method: 'DELETE',
    path: '/apps/:app/tokens/:token',
    access: 'user',
    params: Type.Object({ app: Type.String(), token: Type.String() }),
    errors: ['app.not_found', 'access.denied', 'token.not_found'],
    handle: ({ useCases, caller }, { params }) => useCases.appTokens.revokeOne(caller, params.app, params.token),
  }),
  empty({
    id: 'app_tokens.revoke',
    section: null,
    summary: 'End all tokens of an app.',
    method: 'DELETE',
    path: '/tokens',
    access: 'user',
    query: Type.Object({ client: queryText }),
    errors: ['app.invalid_name', 'app.not_found', 'access.denied'],
    handle: async ({ useCases, caller }, { query }) => {
      await useCases.appTokens.revoke(caller, query.client);
    },
  }),
];
