/** Teams and their members (specification 4.8). */
import { Type } from '../schema.ts';
import { empty, json, type Operation } from '../operation.ts';
import { optionalText } from './fields.ts';

const section = '4.8';
const params = Type.Object({ team: Type.String() });
const memberParams = Type.Object({ team: Type.String(), user: Type.String() });

export const teamOperations: readonly Operation[] = [
  json({
    id: 'teams.list',
    section,
    summary: "List the caller's teams; an admin sees all.",
    method: 'GET',
    path: '/teams',
    access: 'user',
    shape: 'teams',
    errors: [],
    handle: ({ useCases, caller }) => useCases.teams.list(caller),
  }),
  empty({
    id: 'teams.create',
    section,
    summary: 'Create a team; the caller is its first member.',
    method: 'POST',
    path: '/teams',
    access: 'user',
    body: Type.Object({ name: optionalText }),
    errors: ['input.invalid_json', 'team.invalid_name', 'team.name_taken', 'quota.exceeded'],
    handle: async ({ useCases, caller }, { body }) => {
      await useCases.teams.create(caller, body.name);
    },
  }),
  json({
    id: 'teams.info',
    section,
    summary: 'Show a team and its members.',
    method: 'GET',
    path: '/teams/:team',
    access: 'user',
    params,
    shape: 'team',
    errors: ['team.not_found', 'access.denied'],
    handle: (context, input) => context.useCases.teams.info(context.caller, input.params.team),
  }),
  empty({
    id: 'teams.remove',
    section,
    summary: 'Remove a team that has no apps.',
    method: 'DELETE',
    path: '/teams/:team',
    access: 'user',
    params,
    errors: ['team.not_found', 'access.denied', 'team.in_use'],
    handle: (context, input) => context.useCases.teams.remove(context.caller, input.params.team),
  }),
  empty({
    id: 'teams.member_add',
    section,
    summary: 'Add a user to a team.',
    method: 'PUT',
    path: '/teams/:team/:user',
    access: 'user',
    params: memberParams,
    errors: ['team.not_found', 'access.denied', 'user.not_found', 'team.member_exists', 'quota.exceeded'],
    handle: ({ useCases, caller }, { params: { team, user } }) => useCases.teams.addMember(caller, team, user),
  }),
  empty({
    id: 'teams.member_remove',
    section,
    summary: 'Remove a user from a team.',
    method: 'DELETE',
    path: '/teams/:team/:user',
    access: 'user',
    params: memberParams,
    errors: ['team.not_found', 'access.denied', 'team.member_not_found', 'team.last_member'],
    handle: ({ useCases, caller }, { params: { team, user } }) => useCases.teams.removeMember(caller, team, user),
  }),
];
