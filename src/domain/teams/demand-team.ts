import { PlatformError } from '../errors.ts';
import type { Team } from './team.ts';
import type { TeamReader } from './team-store.ts';

/** Throws `team.not_found`. */
export async function demandTeam(store: Pick<TeamReader, 'team'>, name: string): Promise<Team> {
  const team = await store.team(name);
  if (team !== null) return team;
  throw new PlatformError('team.not_found', 'Team not found', { hint: 'Check the spelling of its name.' });
}
