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

interface AppTeams {
  readonly teamOwner: string;
  /** With access, the owner included; sorted. */
  readonly teams: readonly string[];
}

/**
 * The teams of an app that is made: the one asked for. Who names none shares it with all own teams, of which the first owns it.
 * Clients that know of owners name an empty one for "my only one".
 */
export async function teamsOfNewApp(
  store: Pick<TeamReader, 'team'>,
  caller: Caller,
  wanted: unknown,
): Promise<AppTeams> {
  const isNamed = wanted !== undefined && wanted !== null;
  if (isNamed && wanted !== '') {
    const { name } = await demandOwner(store, caller, wanted);
    return { teamOwner: name, teams: [name] };
  }
  const own = caller.kind === 'user' ? [...caller.teams].sort() : [];
  const [first] = own;
  if (first === undefined) {
    throw new PlatformError('team.required', 'In order to create an app, you should be member of at least one team', {
      hint: 'Create one with "tancho team create <name>".',
    });
  }
  if (!isNamed || own.length === 1) return { teamOwner: first, teams: own };
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
