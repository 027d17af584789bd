import { Type } from '../schema.ts';
import type { SshKey } from '../../domain/users/user.ts';
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
