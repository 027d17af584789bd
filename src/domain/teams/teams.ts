/** Use cases of teams (specification 4.8). */
import type { Act } from '../act.ts';
import { demand } from '../access.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import { demandPlace, MOST } from '../bounds.ts';
import type { AccountStore } from '../users/account-store.ts';
import { userNotFound } from '../users/authentication.ts';
import type { CallerCache } from '../users/caller-cache.ts';
import { normalEmail } from '../users/email.ts';
import { checkTeamName, type Team } from './team.ts';
import type { TeamReader } from './team-store.ts';

export interface Teams {
  /** The caller's teams; an admin sees all. */
  list(caller: Caller): Promise<Team[]>;
  info(caller: Caller, name: string): Promise<Team>;
  /** The creator becomes its first member. */
  create(caller: Caller, name: unknown): Promise<Team>;
  /** Refused with team.in_use while apps belong to it. */
  remove(caller: Caller, name: string): Promise<void>;
  addMember(caller: Caller, team: string, email: string): Promise<void>;
  /** The last member cannot go (team.last_member). */
  removeMember(caller: Caller, team: string, email: string): Promise<void>;
}

interface TeamsDeps {
  readonly store: AccountStore;
  readonly act: Act;
  readonly now: () => Date;
  /** Shared with createUsers: it knows the teams of callers and is cleared when they change. */
  readonly callers: CallerCache;
}

/** `/services/<service>/doc` shadows `/services/<service>/<team>`: a team of that name could never be granted anything. */
const RESERVED_NAMES: ReadonlySet<string> = new Set(['doc']);

export function createTeams(deps: TeamsDeps): Teams {
  const { store, act, now, callers } = deps;

  return {
    async list(caller) {
      demand(caller, 'team.list');
      return caller.kind === 'user' && !caller.isAdmin ? store.teams(caller.email) : store.teams();
    },

    async info(caller, name) {
      const team = await existing(store, name);
      demand(caller, 'team.info', { team });
      return team;
    },

    create(caller, name) {
      const target = `team:${typeof name === 'string' ? name.trim().slice(0, 63) : ''}`;
      return act(caller, 'team.create', {}, { target }, async () => {
        const team: Team = {
          name: checkTeamName(name, RESERVED_NAMES),
          createdAt: now().toISOString(),
          members: caller.kind === 'user' ? [caller.email] : [],
        };
        await store.transact(async (tx) => {
          if (caller.kind === 'user' && !caller.isAdmin) await demandPlaceIn(tx, caller.email);
          await tx.insertTeam(team);
        });
        callers.clear();
        return team;
      });
    },

    async remove(caller, name) {
      const team = await existing(store, name);
      await act(caller, 'team.remove', { team }, { target: `team:${name}` }, async () => {
        await store.transact(async (tx) => {
          const apps = (await tx.apps([name])).map((app) => app.name);
          if (apps.length > 0) throw inUse(name, apps);
          await refuseIfServing(tx, name);
          for (const { host, team } of await tx.registryLogins()) {
            if (team === name) await tx.deleteRegistryLogin(host, team);
          }
          await tx.deleteWebhooksOf('team', name);
          await tx.deleteTeam(name);
        });
        callers.clear();
      });
    },

    async addMember(caller, name, user) {
      const team = await existing(store, name);
      const email = normalEmail(user);
      await act(caller, 'team.member_add', { team, email }, { target: `team:${name}`, detail: email }, async () => {
        await store.transact(async (tx) => {
          if ((await tx.user(email)) === null) throw userNotFound();
          if ((await existing(tx, name)).members.includes(email)) throw memberExists(name, email);
          await demandPlaceIn(tx, email);
          await tx.addMember(name, email);
        });
        callers.clear();
      });
    },

    async removeMember(caller, name, user) {
      const team = await existing(store, name);
      const email = normalEmail(user);
      await act(caller, 'team.member_remove', { team, email }, { target: `team:${name}`, detail: email }, async () => {
        await store.transact(async (tx) => {
          const { members } = await existing(tx, name);
          if (!members.includes(email)) throw memberNotFound(name, email);
          if (members.length === 1) throw lastMember(name);
          await tx.removeMember(name, email);
        });
        callers.clear();
      });
    },
  };
}

async function existing(store: TeamReader, name: string): Promise<Team> {
  const team = await store.team(name);
  if (team !== null) return team;
  throw new PlatformError('team.not_found', `Team "${name.slice(0, 63)}" not found.`, {
    hint: 'List the teams to see their names.',
  });
}

async function demandPlaceIn(tx: TeamReader, email: string): Promise<void> {
  demandPlace((await tx.teamsOf(email)).length, MOST.teamsOfUser, {
    plural: 'teams of a user',
    hint: `Let ${email} leave a team that is not needed, or remove it: tancho team list`,
  });
}

function inUse(name: string, apps: readonly string[]): PlatformError {
  return new PlatformError(
    'team.in_use',
    `The team ${name} cannot be removed because apps belong to it: ${apps.join(', ')}.`,
    {
      hint: 'Remove these apps first.',
      details: { apps },
    },
  );
}

/** Without its last team nobody but an admin could look after a service or an instance. */
async function refuseIfServing(tx: Pick<AccountStore, 'services' | 'instances'>, team: string): Promise<void> {
  const services = (await tx.services()).filter(({ ownerTeams }) => ownerTeams.join() === team).map(({ name }) => name);
  const instances = (await tx.instances()).filter(({ teamOwner }) => teamOwner === team).map(({ name }) => name);
  if (services.length + instances.length === 0) return;
  const list = [...services.map((name) => `the service ${name}`), ...instances.map((name) => `the instance ${name}`)];
  throw new PlatformError('team.in_use', `The team ${team} cannot be removed because it owns ${list.join(', ')}.`, {
    hint: 'Remove these first, or make another team their owner.',
    details: { services, instances },
  });
}

function memberExists(team: string, email: string): PlatformError {
  return new PlatformError('team.member_exists', `User ${email} is already in the team ${team}.`);
}

function memberNotFound(team: string, email: string): PlatformError {
  return new PlatformError('team.member_not_found', `User ${email} is not in the team ${team}.`);
}

function lastMember(team: string): PlatformError {
  return new PlatformError(
    'team.last_member',
    `This user is the last member of the team ${team}, and a team cannot be left without members.`,
    { hint: 'Add another member first, or remove the team.' },
  );
}
