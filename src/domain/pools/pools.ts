/** Use cases of pools (specification 4.1): which team may use which, and the admins' changes of that. */
import type { Act } from '../act.ts';
import { type Action, demand } from '../access.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Store } from '../store.ts';
import { demandPool } from './demand-pool.ts';
import { checkPoolName, DEFAULT_POOL, mayUsePool, type Pool } from './pool.ts';

export interface TeamPools {
  readonly team: string;
  /** Names, sorted: the public ones and those of the team. */
  readonly pools: readonly string[];
}

export interface Pools {
  /** The caller's teams, with the pools that their apps may be in; an admin sees all teams. Sorted by team. */
  byTeam(caller: Caller): Promise<TeamPools[]>;
  /** The pools that the caller's teams may use, the default one first; an admin sees all. */
  list(caller: Caller): Promise<Pool[]>;
  /** Errors: pool.invalid_name, pool.name_taken. */
  create(caller: Caller, input: { readonly name: unknown; readonly isPublic: boolean }): Promise<void>;
  /** Public or not (absent: as before); a public one has no teams of its own. Errors: pool.not_found, pool.in_use for the default pool. */
  update(caller: Caller, name: string, isPublic?: boolean): Promise<void>;
  /** Errors: pool.not_found, pool.in_use. */
  remove(caller: Caller, name: string): Promise<void>;
  /** Teams that have access already are ignored. Errors: pool.not_found, pool.in_use for a public pool, team.not_found. */
  addTeams(caller: Caller, name: string, teams: readonly string[]): Promise<void>;
  /** Teams without access are ignored; apps that are in the pool stay. */
  removeTeams(caller: Caller, name: string, teams: readonly string[]): Promise<void>;
}

export function createPools(deps: { store: Store; act: Act; now: () => Date }): Pools {
  const { store, act, now } = deps;
  const all = async (): Promise<Pool[]> => [DEFAULT_POOL, ...(await store.pools())];

  async function teamsOf(caller: Caller): Promise<readonly string[]> {
    if (caller.kind === 'user' && !caller.isAdmin) return caller.teams;
    return (await store.teams()).map((team) => team.name);
  }

  async function change(
    caller: Caller,
    action: Action,
    name: string,
    apply: (teams: readonly string[]) => string[],
  ): Promise<void> {
    await act(caller, action, {}, { target: `pool:${name.slice(0, 63)}` }, async () => {
      await store.transact(async (tx) => {
        const pool = await demandPool(tx, name);
        if (pool.isPublic) throw isPublic(pool.name);
        await tx.setPoolTeams(name, apply(pool.teams));
      });
    });
  }

  return {
    async byTeam(caller) {
      demand(caller, 'pool.list');
      const [teams, pools] = [await teamsOf(caller), await all()];
      return [...teams].sort().map((team) => {
        const usable = pools.filter((pool) => mayUsePool(pool, team));
        return { team, pools: usable.map((pool) => pool.name).sort() };
      });
    },

    async list(caller) {
      demand(caller, 'pool.list');
      const pools = await all();
      if (caller.kind !== 'user' || caller.isAdmin) return pools;
      return pools.filter((pool) => pool.isPublic || caller.teams.some((team) => mayUsePool(pool, team)));
    },

    async create(caller, input) {
      const target = `pool:${typeof input.name === 'string' ? input.name.slice(0, 63) : ''}`;
      await act(caller, 'pool.create', {}, { target }, async () => {
        const name = checkPoolName(input.name);
        if (name === DEFAULT_POOL.name)
          throw new PlatformError('pool.name_taken', 'There is already a pool "default".');
        const { isPublic } = input;
        await store.transact((tx) => tx.insertPool({ name, isPublic, teams: [], createdAt: now().toISOString() }));
      });
    },

    async update(caller, name, isPublic) {
      const options = { target: `pool:${name.slice(0, 63)}`, detail: isPublic === true ? 'public' : 'not public' };
      await act(caller, 'pool.update', {}, options, async () => {
        await store.transact(async (tx) => {
          const pool = await demandPool(tx, name);
          if (isPublic === undefined || pool.isPublic === isPublic) return;
          if (pool === DEFAULT_POOL)
            throw new PlatformError('pool.in_use', 'The default pool stays open to all teams.');
          await tx.setPoolPublic(name, isPublic);
        });
      });
    },

    async remove(caller, name) {
      await act(caller, 'pool.remove', {}, { target: `pool:${name.slice(0, 63)}` }, async () => {
        await store.transact(async (tx) => {
          const pool = await demandPool(tx, name);
          if (pool === DEFAULT_POOL) throw new PlatformError('pool.in_use', 'The default pool cannot be removed.');
          const apps = (await tx.apps()).filter((app) => app.pool === name).map((app) => app.name);
          if (apps.length > 0) throw inUse(name, apps);
          await tx.deletePool(name);
        });
      });
    },

    addTeams: (caller, name, teams) =>
      change(caller, 'pool.team_add', name, (before) => [...new Set([...before, ...teams])]),

    removeTeams: (caller, name, teams) =>
      change(caller, 'pool.team_remove', name, (before) => before.filter((team) => !teams.includes(team))),
  };
}

function isPublic(name: string): PlatformError {
  return new PlatformError('pool.in_use', "Public/Default pool can't have teams.", {
    hint: `Every team may use ${name} already.`,
  });
}

function inUse(name: string, apps: readonly string[]): PlatformError {
  return new PlatformError(
    'pool.in_use',
    `The pool ${name} cannot be removed, there are apps in it: ${apps.join(', ')}.`,
    {
      hint: 'Move them first: tancho app update <app> --pool <pool>.',
      details: { apps },
    },
  );
}
