import { Type } from '../schema.ts';
import type { Team } from '../../domain/teams/team.ts';
import { shape } from './shape.ts';

/** `name` and nothing else, which clients of every age can read (a boolean beside it breaks many). */
export const teams = shape(Type.Array(Type.Object({ name: Type.String() })), (list: readonly Team[]) =>
  list.map((team) => ({ name: team.name })),
);

export const team = shape(Type.Object({ name: Type.String(), users: Type.Array(Type.String()) }), (value: Team) => ({
  name: value.name,
  users: [...value.members],
}));
