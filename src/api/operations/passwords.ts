/** Changed and forgotten passwords (specification 4.7). */
import { Type } from '../schema.ts';
import { empty, type Operation } from '../operation.ts';
import { optionalText, queryText } from './fields.ts';

const section = '4.7';

export const passwordOperations: readonly Operation[] = [
  empty({
    id: 'users.change_password',
    section,
    summary: "Change the caller's password; every session but this one ends.",
    method: 'PUT',
    path: '/users/password',
    access: 'user',
    body: Type.Object({ old: optionalText, new: optionalText, confirm: optionalText }),
    errors: ['input.invalid_json', 'user.invalid_password', 'user.password_mismatch', 'auth.throttled'],
    handle: ({ useCases, caller }, { body }) =>
      useCases.users.changePassword(caller, { old: body.old, new: body.new, confirm: body.confirm }),
  }),
  empty({
    id: 'users.reset_password',
    section,
    summary: 'Mail a token for a new password; with the token, set the one given, or mail a random one.',
    method: 'POST',
    path: '/users/:email/password',
    access: 'public',
    params: Type.Object({ email: Type.String() }),
    query: Type.Object({ token: queryText }),
    body: Type.Object({ token: optionalText, password: optionalText, new: optionalText }),
    isBodyOptional: true,
    errors: [
      'input.invalid_json',
      'user.not_found',
      'user.invalid_password',
      'user.invalid_reset_token',
      'auth.throttled',
    ],
    handle: ({ useCases, caller, address }, { params, query, body }) => {
      const password = body.password ?? body.new;
      const token = body.token ?? query.token ?? '';
      return useCases.users.resetPassword(caller, { email: params.email, token, password, address });
    },
  }),
];
