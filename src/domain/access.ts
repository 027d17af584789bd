/**
 * The whole permission table (specification section 5): who may do what. Deny by default; an action without a rule
 * does not compile. Judged in one place, by every door.
 */
import type { App } from './apps/app.ts';
import { type Caller, callerName, isAdmin } from './caller.ts';
import { PlatformError } from './errors.ts';
import type { Instance, Service } from './services/service.ts';
import type { Team } from './teams/team.ts';

export interface Subject {
  readonly app?: Pick<App, 'name' | 'teams'>;
  readonly team?: Pick<Team, 'name' | 'members'>;
  readonly service?: Pick<Service, 'name' | 'ownerTeams' | 'teams' | 'isRestricted'>;
  readonly instance?: Pick<Instance, 'name' | 'teams'>;
  /** A user the action is about. */
  readonly email?: string;
  /** For user.create: registration is open to everybody (setting auth.registration). */
  readonly registrationOpen?: boolean;
}

type Rule = (caller: Caller, subject: Subject) => boolean;

const anyone: Rule = () => true;
const admin: Rule = (caller) => isAdmin(caller);
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
const inTeams = (caller: Caller, teams: readonly string[] | undefined): boolean =>
  caller.kind === 'user' && teams !== undefined && teams.some((team) => caller.teams.includes(team));
const inSomeTeam: Rule = (caller) => admin(caller, {}) || (caller.kind === 'user' && caller.teams.length > 0);
const serviceOwner: Rule = (caller, { service }) => admin(caller, {}) || inTeams(caller, service?.ownerTeams);
const serviceUser: Rule = (caller, subject) =>
  serviceOwner(caller, subject) ||
  inTeams(caller, subject.service?.teams) ||
  (caller.kind === 'user' && subject.service?.isRestricted === false);
/** Of an app, a team or a user; what is about none of them is the platform's, for admins. */
const webhookKeeper: Rule = (caller, subject) => {
  if (subject.app !== undefined) return appTeam(caller, subject);
  return subject.team !== undefined ? teamMember(caller, subject) : self(caller, subject);
};
const instanceTeam: Rule = (caller, { instance }) => admin(caller, {}) || inTeams(caller, instance?.teams);

const WORDS: ReadonlyMap<Rule, string> = new Map([
  [anyone, 'anybody'],
  [user, 'any user'],
  [admin, 'admins'],
  [self, 'the user it is about, and admins'],
  [appTeam, "members of the app's teams, and admins"],
  [appTeamOrAppToken, "members of the app's teams, admins, and a token of the app"],
  [teamMember, 'members of the team, and admins'],
  [inSomeTeam, 'users with a team, and admins'],
  [serviceOwner, 'members of the teams that own the service, and admins'],
  [serviceUser, 'who may use the service: its owners, its teams, any user where it is open to all, and admins'],
  [webhookKeeper, "members of the app's teams or of the team, the user it is about, and admins"],
  [instanceTeam, "members of the instance's teams, and admins"],
  [registration, 'anybody where registration is open, otherwise admins'],
]);

export const RULES = {
  'user.create': registration,
  'user.login': anyone,
  'user.logout': user,
  'user.info': user,
  'user.list': user,
  'user.password': user,
  'user.reset': anyone,
  'user.remove': self,
  'user.admin': admin,
  'api_key.show': user,
  'api_key.regenerate': user,
  'app_token.create': appTeam,
  'app_token.list': appTeam,
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
  'app.edge': appTeam,
  'app.link': appTeam,
  'app.unlink': appTeam,
  // Without an app it is about the platform's own names: for admins.
  'cert.list': user,
  'cert.info': appTeam,
  'cert.renew': appTeam,
  'cert.add': appTeam,
  'cert.remove': appTeam,
  'cert.authority': user,
  'app.unlock': admin,
  'app.routes': admin,
  'unit.add': appTeam,
  'unit.remove': appTeam,
  'app.run': appTeam,
  'app.shell': appTeam,
  'app.log': appTeamOrAppToken,
  'app.log_push': appTeamOrAppToken,
  'app.log_clear': admin,
  // Of the lines of all apps: admins.
  'drain.list': appTeam,
  'drain.add': appTeam,
  'drain.test': appTeam,
  'drain.update': appTeam,
  'drain.remove': appTeam,
  'webhook.list': webhookKeeper,
  'webhook.add': webhookKeeper,
  'webhook.test': webhookKeeper,
  'webhook.resend': webhookKeeper,
  'webhook.remove': webhookKeeper,
  'alert.show': admin,
  'alert.update': admin,
  'alert.test': admin,
  'edge.list': admin,
  'edge_token.create': admin,
  'edge_token.list': admin,
  'edge_token.revoke': admin,
  'backup.list': admin,
  'backup.create': admin,
  'app.diagnosis': appTeam,
  'app.metrics': appTeam,
  'app.releases': appTeam,
  'metrics.all': admin,
  'unit.report': appTeamOrAppToken,
  'unit.report_all': admin,
  'app.push': appTeam,
  'app.deploy': appTeamOrAppToken,
  'app.rollback': appTeam,
  'app.pull': appTeam,
  'env.get': appTeamOrAppToken,
  'env.set': appTeam,
  'env.unset': appTeam,
  // Without a team it is about those of all.
  'registry.login': teamMember,
  'registry.list': user,
  'registry.logout': teamMember,
  'volume.create': appTeam,
  'volume.list': appTeam,
  'volume.update': appTeam,
  'volume.mount': appTeam,
  'volume.unmount': appTeam,
  'volume.remove': appTeam,
  'deploy.list': user,
  'deploy.info': appTeam,
  'deploy.cancel': appTeam,
  'platform.list': user,
  'platform.add': admin,
  'platform.update': admin,
  'platform.remove': admin,
  'plan.list': user,
  'plan.create': admin,
  'plan.remove': admin,
  'plan.routers': user,
  'pool.list': user,
  'pool.create': admin,
  'pool.update': admin,
  'pool.remove': admin,
  'pool.team_add': admin,
  'pool.team_remove': admin,
  // Specification 5: only who is in a team; only its owners; only who has access to the app.
  'service.create': inSomeTeam,
  'service.list': user,
  'service.info': serviceUser,
  'service.update': serviceOwner,
  'service.remove': serviceOwner,
  'service.grant': serviceOwner,
  'service.revoke': serviceOwner,
  'service.proxy': serviceOwner,
  'instance.create': serviceUser,
  'instance.list': user,
  'instance.info': instanceTeam,
  'instance.update': instanceTeam,
  'instance.remove': instanceTeam,
  'instance.grant': instanceTeam,
  'instance.revoke': instanceTeam,
  'instance.bind': instanceTeam,
  'instance.proxy': instanceTeam,
  'app.bind': appTeam,
  'app.unbind': appTeam,
  'event.list': user,
  'event.log': admin,
  'server.disk': admin,
  'server.health': admin,
  'healer.list': user,
  'healer.run': user,
  'healer.recent': admin,
  // Healing something that belongs to no app is for admins.
  'healer.heal': appTeam,
  'metadata.info': anyone,
} satisfies Record<string, Rule>;

export type Action = keyof typeof RULES;

export function may(caller: Caller, action: Action, subject: Subject = {}): boolean {
  return RULES[action](caller, subject);
}

/** For docs/access.md. */
export function describeRule(action: Action): string {
  const rule: Rule = RULES[action];
  const words = WORDS.get(rule);
  if (words === undefined) throw new Error(`The rule of ${action} has no words.`);
  return words;
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
  if (subject.instance !== undefined) {
    throw new PlatformError('access.denied', 'user does not have access to this service instance', {
      hint: `Ask a member of one of its teams to grant yours access to ${subject.instance.name}.`,
    });
  }
  if (subject.service !== undefined) {
    throw new PlatformError('access.denied', 'This user does not have access to this service', {
      hint: `Ask one of its owners to grant your team access to ${subject.service.name}.`,
    });
  }
  if (action === 'service.create') {
    throw new PlatformError(
      'access.denied',
      'In order to create or change a service, you should be member of at least one team',
      { hint: 'Create a team, or ask a member of one to add you.' },
    );
  }
  if (subject.team !== undefined) {
    throw new PlatformError('access.denied', `You are not a member of the team ${subject.team.name}.`, {
      hint: 'Ask a member of the team to add you.',
    });
  }
  throw new PlatformError('access.denied', 'You must be an admin', { hint: 'Ask an admin of this platform.' });
}
