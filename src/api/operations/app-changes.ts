/** The record of an app: what it is, which teams have access, in which pool it is (the pool: specification 4.1). */
import type { RawBody } from '../body.ts';
import { empty, type Operation } from '../operation.ts';
import { Type } from '../schema.ts';
import { appParams } from './fields.ts';
import { OPTIONS_BODY, readBare, readOptions } from './options-input.ts';
import { PlatformError } from '../../domain/errors.ts';

const teamParams = Type.Object({ app: Type.String(), team: Type.String() });
const bareText = { mediaType: 'text/plain', schema: Type.String() };
const errors = ['app.not_found', 'access.denied', 'app.busy'] as const;

export const appChangeOperations: readonly Operation[] = [
  empty({
    id: 'apps.update',
    section: null,
    summary: 'Change the description, platform, owning team or pool of an app; what is empty stays as it is.',
    method: 'PUT',
    path: '/apps/:app',
    access: 'user',
    params: appParams,
    rawBody: OPTIONS_BODY,
    errors: [...errors, 'platform.not_found', 'team.not_found', 'pool.not_found', 'input.invalid_json'],
    handle: async ({ useCases, caller }, { params, body }) => {
      await useCases.appChanges.change(caller, params.app, readChange(body));
    },
  }),
  empty({
    id: 'apps.pool',
    section: '4.1',
    summary: 'Move an app to another pool; its units are not touched.',
    method: 'POST',
    path: '/apps/:app/pool',
    access: 'user',
    params: appParams,
    rawBody: bareText,
    errors: [...errors, 'pool.not_found', 'input.invalid_json'],
    handle: ({ useCases, caller }, { params, body }) =>
      useCases.appChanges.change(caller, params.app, { pool: readBare(body, 'pool') }),
  }),
  empty({
    id: 'apps.team_owner',
    section: null,
    summary: 'Make another team the owner of an app.',
    method: 'POST',
    path: '/apps/:app/team-owner',
    access: 'user',
    params: appParams,
    rawBody: bareText,
    errors: [...errors, 'team.not_found', 'input.invalid_json'],
    handle: ({ useCases, caller }, { params, body }) =>
      useCases.appChanges.change(caller, params.app, { teamOwner: readBare(body, 'teamOwner') }),
  }),
  empty({
    id: 'apps.grant',
    section: null,
    summary: 'Give a team access to an app.',
    method: 'PUT',
    path: '/apps/:app/teams/:team',
    also: [{ method: 'PUT', path: '/apps/:app/:team' }],
    access: 'user',
    params: teamParams,
    errors: [...errors, 'team.not_found', 'team.access_exists'],
    handle: ({ useCases, caller }, { params }) => useCases.appChanges.grant(caller, params.app, params.team),
  }),
  empty({
    id: 'apps.revoke',
    section: null,
    summary: "Take a team's access to an app away.",
    method: 'DELETE',
    path: '/apps/:app/teams/:team',
    also: [{ method: 'DELETE', path: '/apps/:app/:team' }],
    access: 'user',
    params: teamParams,
    errors: [...errors, 'team.not_found', 'team.access_missing', 'team.owns_app'],
    handle: ({ useCases, caller }, { params }) => useCases.appChanges.revoke(caller, params.app, params.team),
  }),
];

/** Clients send every field, most of them empty. */
function readChange(body: RawBody) {
  const names = ['description', 'platform', 'teamOwner', 'teamowner', 'pool', 'plan'] as const;
  const { plan, teamowner, ...fields } = readOptions(body, {}, names);
  if (plan !== '' && plan !== 'default') {
    throw new PlatformError('input.invalid', 'plan not found', { hint: 'The only plan here is "default".' });
  }
  return {
    description: fields.description || undefined,
    platform: fields.platform || undefined,
    teamOwner: fields.teamOwner || teamowner || undefined,
    pool: fields.pool || undefined,
  };
}
