import type { ApiKey, SshKey } from '../../domain/users/user.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

/** Nothing but strings: older clients read this answer into a map of strings. */
export const login = shape(Type.Object({ token: Type.String() }), (value: { token: string }) => value);

export const userInfo = shape(
  Type.Object({ Email: Type.String(), Teams: Type.Array(Type.String()) }),
  (value: { email: string; teams: string[] }) => ({ Email: value.email, Teams: value.teams }),
);

/** Name -> key, as the clients that list keys read it. */
export const sshKeys = shape(Type.Record(Type.String(), Type.String()), (keys: readonly SshKey[]) =>
  Object.fromEntries(keys.map((key) => [key.name, key.key])),
);

/** Beyond the specification; `Email` and `Teams` as in the information about oneself. */
export const users = shape(
  Type.Array(Type.Object({ Email: Type.String(), Teams: Type.Array(Type.String()), Admin: Type.Boolean() })),
  (list: readonly { email: string; isAdmin: boolean; teams: string[] }[]) =>
    list.map(({ email, isAdmin, teams }) => ({ Email: email, Teams: teams, Admin: isAdmin })),
);

/** `users`, although it is one: the published name of the field (specification 2). */
export const apiKey = shape(Type.Object({ token: Type.String(), users: Type.String() }), ({ key, email }: ApiKey) => ({
  token: key,
  users: email,
}));

/** Where the published answer is not shown, existing clients read one JSON string. */
export const newApiKey = shape(Type.String(), ({ key }: ApiKey) => key);

/** What clients ask for before they log in. */
export const authScheme = shape(
  Type.Object({ name: Type.String(), data: Type.Unsafe<null>({ type: 'null' }) }),
  (value: { name: string; data: null }) => value,
);
