import { PlatformError } from '../errors.ts';
import type { TeamReader } from './team-store.ts';

/** Throws `team.not_found`. */
export async function demandTeam(store: Pick<TeamReader, 'team'>, name: string): Promise<void> {
  if ((await store.team(name)) !== null) return;
  throw new PlatformError('team.not_found', 'Team not found', { hint: 'Check the spelling of its name.' });
}
