/** Use cases of logins at registries: what images apps may pull, and what their builds may begin with. */
import { demand, may } from '../access.ts';
import type { Act } from '../act.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import { demandPlace, MOST } from '../bounds.ts';
import type { Store } from '../store.ts';
import type { Team } from '../teams/team.ts';
import { checkLogin, checkRegistryHost, type RegistryLogin } from './registry-login.ts';

export type RegistryLoginView = Omit<RegistryLogin, 'password'>;

interface NewLogin {
  readonly host: unknown;
  /** '' for all teams, which is for admins. */
  readonly team: string;
  readonly user: unknown;
  readonly password: unknown;
}

export interface Registries {
  /** Those of the caller's teams and those of all; without passwords. */
  list(caller: Caller): Promise<RegistryLoginView[]>;
  /** In place of the one that is there. Errors: registry.invalid, team.not_found. */
  login(caller: Caller, login: NewLogin): Promise<void>;
  /** Errors: registry.invalid, team.not_found, registry.not_found. */
  logout(caller: Caller, host: unknown, team: string): Promise<void>;
}

interface RegistriesDeps {
  readonly store: Store;
  readonly act: Act;
  readonly now: () => Date;
}

export function createRegistries({ store, act, now }: RegistriesDeps): Registries {
  async function subjectOf(team: string): Promise<{ readonly team?: Team }> {
    if (team === '') return {};
    const found = await store.team(team);
    if (found !== null) return { team: found };
    throw new PlatformError('team.not_found', `Team "${team.slice(0, 63)}" not found.`, {
      hint: 'List the teams to see their names.',
    });
  }

  return {
    async list(caller) {
      demand(caller, 'registry.list');
      const teams = new Map<string, boolean>([['', true]]);
      for (const team of await store.teams()) teams.set(team.name, may(caller, 'registry.login', { team }));
      const visible = (await store.registryLogins()).filter(({ team }) => teams.get(team) === true);
      return visible.map(({ password: _password, ...shown }) => shown);
    },

    async login(caller, given) {
      const subject = await subjectOf(given.team);
      demand(caller, 'registry.login', subject);
      const host = checkRegistryHost(given.host);
      const login = checkLogin(given.user, given.password);
      const by = callerName(caller);
      const record: RegistryLogin = { host, team: given.team, ...login, by, createdAt: now().toISOString() };
      const options = { target: `registry:${host}`, detail: detailOf(given.team, login.user) };
      await act(caller, 'registry.login', subject, options, () =>
        store.transact(async (tx) => {
          const others = (await tx.registryLogins()).filter((one) => one.team === given.team && one.host !== host);
          demandPlace(others.length, MOST.registryLoginsOfTeam, {
            plural: 'logins at registries of a team',
            hint: 'Remove one that is not needed: tancho registry list',
          });
          await tx.putRegistryLogin(record);
        }),
      );
    },

    async logout(caller, given, team) {
      const subject = await subjectOf(team);
      demand(caller, 'registry.logout', subject);
      const host = checkRegistryHost(given);
      const options = { target: `registry:${host}`, detail: detailOf(team, '') };
      await act(caller, 'registry.logout', subject, options, async () => {
        if (await store.transact((tx) => tx.deleteRegistryLogin(host, team))) return;
        const whose = team === '' ? 'all teams' : `the team ${team}`;
        throw new PlatformError('registry.not_found', `There is no login of ${whose} at ${host}.`, {
          hint: 'To see those there are: tancho registry list',
        });
      });
    },
  };
}

function detailOf(team: string, user: string): string {
  return [team === '' ? 'for all teams' : `for ${team}`, user].filter((word) => word !== '').join(' as ');
}
