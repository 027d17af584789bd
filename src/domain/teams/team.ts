import { PlatformError } from '../errors.ts';

const TEAM_NAME = /^[a-zA-Z][-@_.+\w]{1,62}$/;

export interface Team {
  readonly name: string;
  readonly createdAt: string;
  /** E-mails, sorted. */
  readonly members: readonly string[];
}

/** Two to 63 characters; the reserved names come from the route table (`doc` is a path below a service). */
export function checkTeamName(name: unknown, reserved: ReadonlySet<string>): string {
  const trimmed = typeof name === 'string' ? name.trim() : '';
  if (!TEAM_NAME.test(trimmed) || reserved.has(trimmed)) {
    throw new PlatformError('team.invalid_name', 'invalid team name', {
      hint: 'Use 2 to 63 letters, digits or - @ _ . +, starting with a letter; not a reserved word.',
    });
  }
  return trimmed;
}
