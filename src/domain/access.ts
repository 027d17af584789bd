/**
 * The whole permission table (specification section 5): who may do what. Deny by default; an action without a rule
 * does not compile. Judged in one place, by every door.
 */
import type { App } from './apps/app.ts';
import { type Caller, callerName } from './caller.ts';
import { PlatformError } from './errors.ts';
import type { Team } from './teams/team.ts';

export interface Subject {
  readonly app?: Pick<App, 'name' | 'teams'>;
  readonly team?: Pick<Team, 'name' | 'members'>;
  /** A user the action is about. */
  readonly email?: string;
  /** For user.create: registration is open to everybody (setting auth.registration). */
  readonly registrationOpen?: boolean;
}

type Rule = (caller: Caller, subject: Subject) => boolean;

const anyone: Rule = () => true;
const admin: Rule = (caller) => caller.kind === 'platform' || (caller.kind === 'user' && caller.isAdmin);
const user: Rule = (caller) => caller.kind === 'user' || admin(caller, {});
const appTeam: Rule = (caller, { app }) =>
  admin(caller, {}) ||
  (caller.kind === 'user' && app !== undefined && app.teams.some((team) => caller.teams.includes(team)));
const appTeamOrAppToken: Rule = (caller, subject) =>
  appTeam(caller, subject) || (caller.kind === 'app' && caller.app === subject.app?.name);
const teamMember: Rule = (caller, { team }) =>
  admin(caller, {}) || (caller.kind === 'user' && team !== undefined && team.members.includes(caller.email));
const self: Rule = (caller, { email }) => admin(caller, {}) || (caller.kind === 'user' && caller.email === email);
const registration: Rule = (caller, subject) => subject.registrationOpen === true || admin(caller, subject);

export const RULES = {
  'user.create': registration,
  'user.login': anyone,
  'user.logout': user,
  'user.info': user,
  'user.list': user,
  'user.password': user,
  'user.reset': anyone,
  'user.remove': self,
  'api_key.show': user,
  'api_key.regenerate': user,
  'app_token.create': appTeam,
  'app_token.revoke': appTeam,
  'quota.user': self,
  'quota.user_set': admin,
  'quota.app': appTeam,
  'quota.app_set': admin,
  'key.add': user,
  'key.remove': user,
  'key.list': user,
  'team.create': user,
  'team.list': user,
  'team.info': teamMember,
  'team.remove': teamMember,
  'team.member_add': teamMember,
  'team.member_remove': teamMember,
  'app.create': user,
  'app.list': user,
  'app.info': appTeamOrAppToken,
  'app.remove': appTeam,
  'app.restart': appTeam,
  'app.start': appTeam,
  'app.stop': appTeam,
  'app.swap': appTeam,
  'app.update': appTeam,
  'app.grant': appTeam,
  'app.revoke': appTeam,
  'app.cname_add': appTeam,
  'app.cname_remove': appTeam,
  'unit.add': appTeam,
  'unit.remove': appTeam,
  'app.run': appTeam,
  'app.log': appTeamOrAppToken,
  'app.push': appTeam,
  'app.rollback': appTeam,
  'app.pull': appTeam,
  'env.get': appTeamOrAppToken,
  'env.set': appTeam,
  'env.unset': appTeam,
  'deploy.list': user,
  'deploy.info': appTeam,
  'platform.list': user,
  'plan.list': user,
  'pool.list': user,
  'pool.create': admin,
  'pool.remove': admin,
  'pool.team_add': admin,
  'pool.team_remove': admin,
  'healer.list': admin,
  'healer.run': admin,
  'healer.heal': admin,
  'metadata.info': anyone,
} satisfies Record<string, Rule>;

export type Action = keyof typeof RULES;

export function may(caller: Caller, action: Action, subject: Subject = {}): boolean {
  return RULES[action](caller, subject);
}

/** Throws `auth.required` to the anonymous, `access.denied` to everybody else. */
export function demand(caller: Caller, action: Action, subject: Subject = {}): void {
  if (may(caller, action, subject)) return;
  if (caller.kind === 'anonymous' && action !== 'user.create') {
    throw new PlatformError('auth.required', 'You must provide a valid Authorization header', {
      hint: 'Log in with "tancho login" and send the token as "Authorization: bearer <token>".',
    });
  }
  if (action === 'user.create') {
    throw new PlatformError('auth.registration_closed', 'Only an admin may create users on this platform.', {
      hint: 'Ask an admin to create the user, or to open registration (auth.registration).',
    });
  }
  if (subject.app !== undefined) {
    throw new PlatformError('access.denied', 'user does not have access to this app', {
      hint: `Ask a member of one of the app's teams to add ${callerName(caller)}.`,
    });
  }
  if (subject.team !== undefined) {
    throw new PlatformError('access.denied', `You are not a member of the team ${subject.team.name}.`, {
      hint: 'Ask a member of the team to add you.',
    });
  }
  throw new PlatformError('access.denied', 'You must be an admin', { hint: 'Ask an admin of this platform.' });
}
