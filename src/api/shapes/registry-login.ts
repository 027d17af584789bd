import type { RegistryLoginView } from '../../domain/registries/registries.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

/** `team` is empty for those of all teams. */
const fields = Type.Object({
  host: Type.String(),
  team: Type.String(),
  user: Type.String(),
  created_by: Type.String(),
  created_at: Type.String(),
});

export const registryLogins = shape(Type.Array(fields), (logins: readonly RegistryLoginView[]) =>
  logins.map(({ host, team, user, by, createdAt }) => ({ host, team, user, created_by: by, created_at: createdAt })),
);
