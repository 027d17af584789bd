/** The teams that a new instance belongs to. */
import { demandOwner } from '../apps/app-fields.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { TeamReader } from '../teams/team-store.ts';
import type { Service } from './service.ts';

/**
 * The team asked for, or, as the published request names none, all of the caller's that may use the service; the first of them
 * owns it. Errors: team.required, team.not_found, access.denied.
 */
export async function instanceTeams(
  store: Pick<TeamReader, 'team'>,
  caller: Caller,
  service: Pick<Service, 'isRestricted' | 'ownerTeams' | 'teams'>,
  wanted: unknown,
): Promise<{ readonly teamOwner: string; readonly teams: readonly string[] }> {
  if (wanted !== undefined && wanted !== null && wanted !== '') {
    const { name } = await demandOwner(store, caller, wanted);
    return { teamOwner: name, teams: [name] };
  }
  const own = caller.kind === 'user' ? [...caller.teams].sort() : [];
  const allowed = own.filter((team) => service.ownerTeams.includes(team) || service.teams.includes(team));
  // An admin may make instances of every service.
  const teams = service.isRestricted && allowed.length > 0 ? allowed : own;
  const [teamOwner] = teams;
  if (teamOwner !== undefined) return { teamOwner, teams };
  throw new PlatformError(
    'team.required',
    'In order to create a service instance, you should be member of at least one team',
    { hint: 'Create one with "tancho team create <name>".' },
  );
}
