import { describe, expect, it } from 'vitest';
import { type Action, demand, may, RULES, type Subject } from './access.ts';
import { type Caller, PLATFORM, type UserCaller } from './caller.ts';
import { PlatformError } from './errors.ts';

const person = (more: Partial<UserCaller>): UserCaller => ({
  kind: 'user',
  email: 'ann@example.com',
  isAdmin: false,
  teams: [],
  via: 'session',
  tokenHash: '',
  address: '',
  ...more,
});

const callers: Record<string, Caller> = {
  anonymous: { kind: 'anonymous', address: '' },
  outsider: person({ teams: ['others'] }),
  member: person({ teams: ['crew'] }),
  admin: person({ isAdmin: true }),
  platform: PLATFORM,
  ownToken: { kind: 'app', app: 'shop', by: '', tokenHash: '', address: '' },
  otherToken: { kind: 'app', app: 'blog', by: '', tokenHash: '', address: '' },
};

const subject: Subject = {
  app: { name: 'shop', teams: ['crew'] },
  team: { name: 'crew', members: ['bea@example.com'] },
  email: 'ann@example.com',
  service: { name: 'db', ownerTeams: ['crew'], teams: [], isRestricted: true },
  instance: { name: 'shop-db', teams: ['crew'] },
};

/** Who may, spelled out once more by hand so that a slip in the table shows. */
const EVERYBODY = ['anonymous', 'outsider', 'member', 'admin', 'platform', 'ownToken', 'otherToken'];
const USERS = ['outsider', 'member', 'admin', 'platform'];
const APP_TEAM = ['member', 'admin', 'platform'];
const ADMINS = ['admin', 'platform'];
const expected: Record<Action, string[]> = {
  'user.create': ADMINS,
  'user.login': EVERYBODY,
  'user.logout': USERS,
  'user.info': USERS,
  'user.list': USERS,
  'user.password': USERS,
  'user.reset': EVERYBODY,
  'user.admin': ADMINS,
  'user.remove': ['outsider', 'member', ...ADMINS],
  'api_key.show': USERS,
  'api_key.regenerate': USERS,
  'app_token.create': APP_TEAM,
  'app_token.list': APP_TEAM,
  'app_token.revoke': APP_TEAM,
  'quota.user': ['outsider', 'member', ...ADMINS],
  'quota.user_set': ADMINS,
  'quota.app': APP_TEAM,
  'quota.app_set': ADMINS,
  'key.add': USERS,
  'key.remove': USERS,
  'key.list': USERS,
  'team.create': USERS,
  'team.list': USERS,
  'team.info': ADMINS,
  'team.remove': ADMINS,
  'team.member_add': ADMINS,
  'team.member_remove': ADMINS,
  'app.create': USERS,
  'app.list': USERS,
  'app.info': [...APP_TEAM, 'ownToken'],
  'app.remove': APP_TEAM,
  'app.restart': APP_TEAM,
  'app.start': APP_TEAM,
  'app.stop': APP_TEAM,
  'app.swap': APP_TEAM,
  'app.update': APP_TEAM,
  'app.grant': APP_TEAM,
  'app.revoke': APP_TEAM,
  'app.cname_add': APP_TEAM,
  'app.cname_remove': APP_TEAM,
  'app.edge': APP_TEAM,
  'app.link': APP_TEAM,
  'app.unlink': APP_TEAM,
  'cert.list': USERS,
  'cert.info': APP_TEAM,
  'cert.renew': APP_TEAM,
  'cert.add': APP_TEAM,
  'cert.remove': APP_TEAM,
  'cert.authority': USERS,
  'app.unlock': ADMINS,
  'app.routes': ADMINS,
  'unit.add': APP_TEAM,
  'unit.remove': APP_TEAM,
  'app.run': APP_TEAM,
  'app.shell': APP_TEAM,
  'app.log': [...APP_TEAM, 'ownToken'],
  'app.log_push': [...APP_TEAM, 'ownToken'],
  'app.log_clear': ADMINS,
  'app.diagnosis': APP_TEAM,
  'app.metrics': APP_TEAM,
  'app.releases': APP_TEAM,
  'metrics.all': ADMINS,
  'alert.show': ADMINS,
  'alert.update': ADMINS,
  'alert.test': ADMINS,
  'edge.list': ADMINS,
  'edge_token.create': ADMINS,
  'edge_token.list': ADMINS,
  'edge_token.revoke': ADMINS,
  'backup.list': ADMINS,
  'backup.create': ADMINS,
  'unit.report': [...APP_TEAM, 'ownToken'],
  'unit.report_all': ADMINS,
  'app.push': APP_TEAM,
  'app.deploy': [...APP_TEAM, 'ownToken'],
  'app.rollback': APP_TEAM,
  'app.pull': APP_TEAM,
  'env.get': [...APP_TEAM, 'ownToken'],
  'env.set': APP_TEAM,
  'env.unset': APP_TEAM,
  'registry.login': ADMINS,
  'registry.list': USERS,
  'registry.logout': ADMINS,
  'webhook.list': APP_TEAM,
  'webhook.add': APP_TEAM,
  'webhook.test': APP_TEAM,
  'webhook.resend': APP_TEAM,
  'webhook.remove': APP_TEAM,
  'drain.list': APP_TEAM,
  'drain.add': APP_TEAM,
  'drain.test': APP_TEAM,
  'drain.update': APP_TEAM,
  'drain.remove': APP_TEAM,
  'volume.create': APP_TEAM,
  'volume.list': APP_TEAM,
  'volume.update': APP_TEAM,
  'volume.mount': APP_TEAM,
  'volume.unmount': APP_TEAM,
  'volume.remove': APP_TEAM,
  'deploy.list': USERS,
  'deploy.info': APP_TEAM,
  'deploy.cancel': APP_TEAM,
  'platform.list': USERS,
  'platform.add': ADMINS,
  'platform.update': ADMINS,
  'platform.remove': ADMINS,
  'plan.list': USERS,
  'plan.create': ADMINS,
  'plan.remove': ADMINS,
  'plan.routers': USERS,
  'pool.list': USERS,
  'pool.create': ADMINS,
  'pool.update': ADMINS,
  'pool.remove': ADMINS,
  'pool.team_add': ADMINS,
  'pool.team_remove': ADMINS,
  'service.create': USERS,
  'service.list': USERS,
  'service.info': APP_TEAM,
  'service.update': APP_TEAM,
  'service.remove': APP_TEAM,
  'service.grant': APP_TEAM,
  'service.revoke': APP_TEAM,
  'service.proxy': APP_TEAM,
  'instance.create': APP_TEAM,
  'instance.list': USERS,
  'instance.info': APP_TEAM,
  'instance.update': APP_TEAM,
  'instance.remove': APP_TEAM,
  'instance.grant': APP_TEAM,
  'instance.revoke': APP_TEAM,
  'instance.bind': APP_TEAM,
  'instance.proxy': APP_TEAM,
  'app.bind': APP_TEAM,
  'app.unbind': APP_TEAM,
  'event.log': ADMINS,
  'event.list': USERS,
  'server.disk': ADMINS,
  'server.health': ADMINS,
  'healer.list': USERS,
  'healer.run': USERS,
  'healer.recent': ADMINS,
  'healer.heal': APP_TEAM,
  'metadata.info': EVERYBODY,
};

describe('the access table', () => {
  it.each(Object.keys(RULES) as Action[])('%s', (action) => {
    const allowed = Object.keys(callers).filter((name) => may(callers[name] as Caller, action, subject));
    expect(allowed.sort()).toEqual([...expected[action]].sort());
  });

  it('lets users act on themselves and on nobody else', () => {
    for (const action of ['user.remove', 'quota.user'] as const) {
      expect(may(person({}), action, { email: 'ann@example.com' })).toBe(true);
      expect(may(person({}), action, { email: 'bea@example.com' })).toBe(false);
      expect(may(callers['ownToken'] as Caller, action, { email: 'shop' })).toBe(false);
    }
  });

  it('lets team members act on their team', () => {
    const bea = person({ email: 'bea@example.com' });
    expect(may(bea, 'team.member_add', subject)).toBe(true);
  });

  it('lets everybody register where registration is open', () => {
    expect(may(callers['anonymous'] as Caller, 'user.create', { registrationOpen: true })).toBe(true);
  });

  it('denies when the subject is not given', () => {
    expect(may(callers['member'] as Caller, 'app.info')).toBe(false);
  });

  it('answers 401 material to the anonymous only', () => {
    const codeOf = (caller: Caller): string => {
      try {
        demand(caller, 'app.info', subject);
        return '';
      } catch (error) {
        return error instanceof PlatformError ? error.code : 'other';
      }
    };
    expect(codeOf(callers['anonymous'] as Caller)).toBe('auth.required');
    expect(codeOf(callers['outsider'] as Caller)).toBe('access.denied');
    expect(codeOf(callers['otherToken'] as Caller)).toBe('access.denied');
  });
});
