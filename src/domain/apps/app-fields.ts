/** What the fields of an app may be, at its creation and later. */
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { TeamReader } from '../teams/team-store.ts';
import type { Team } from '../teams/team.ts';

const MAX_DESCRIPTION = 1_000;

export function checkDescription(description: unknown): string {
  if (description === undefined || description === null) return '';
  if (typeof description === 'string' && description.length <= MAX_DESCRIPTION) return description;
  throw new PlatformError('input.invalid', `The description must be text of at most ${MAX_DESCRIPTION} characters.`);
}

/** The team an app will belong to: the one asked for, or the caller's only one. */
export async function owningTeam(store: Pick<TeamReader, 'team'>, caller: Caller, wanted: unknown): Promise<string> {
  const own = caller.kind === 'user' ? caller.teams : [];
  if (wanted !== undefined && wanted !== null && wanted !== '') return (await demandOwner(store, caller, wanted)).name;
  const [only, ...others] = own;
  if (only === undefined) {
    throw new PlatformError('team.required', 'In order to create an app, you should be member of at least one team', {
      hint: 'Create one with "tancho team create <name>".',
    });
  }
  if (others.length === 0) return only;
  throw new PlatformError('team.ambiguous', 'You belong to more than one team, choose one to be owner for this app.', {
    hint: `Name one of: ${own.join(', ')} (teamOwner, or --team).`,
  });
}

/** A team that the caller may make the owner of an app: one of the caller's own. */
export async function demandOwner(store: Pick<TeamReader, 'team'>, caller: Caller, name: unknown): Promise<Team> {
  const team = typeof name === 'string' ? await store.team(name) : null;
  if (team === null) {
    throw new PlatformError('team.not_found', 'Team not found', { hint: 'List yours with "tancho team list".' });
  }
  if (caller.kind === 'user' && (caller.isAdmin || caller.teams.includes(team.name))) return team;
  throw new PlatformError('access.denied', `You can not set ${team.name} team as app's owner.`, {
    hint: "Please set one of your teams as app's owner.",
  });
}
