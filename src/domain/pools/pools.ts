/** Use cases of pools (specification 4.1): which team may use which, where their apps run, and the admins' changes of that. */
import type { Act } from '../act.ts';
import { type Action, demand } from '../access.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Store, StoreReader } from '../store.ts';
import { type Engines, readPlacement } from '../units/engines.ts';
import { demandPool } from './demand-pool.ts';
import { isSamePlacement, type Placement } from './placement.ts';
import { checkPoolName, DEFAULT_POOL, mayUsePool, type Pool } from './pool.ts';

export interface TeamPools {
  readonly team: string;
  /** Names, sorted: the public ones and those of the team. */
  readonly pools: readonly string[];
}

/** A pool with the engine of its apps named. */
export interface PoolView extends Pool {
  readonly engine: string;
}

/** Absent: as before; the server's own engine for a new one. */
export interface EngineChoice {
  /** '' for the server's own. */
  readonly engine?: string;
  readonly options?: Readonly<Record<string, string>>;
}

export interface PoolChange extends EngineChoice {
  /** A public one has no teams of its own. */
  readonly isPublic?: boolean;
}

export interface Pools {
  /** The caller's teams, with the pools that their apps may be in; an admin sees all teams. Sorted by team. */
  byTeam(caller: Caller): Promise<TeamPools[]>;
  /** The pools that the caller's teams may use, the default one first; an admin sees all. */
  list(caller: Caller): Promise<PoolView[]>;
  /** Errors: pool.invalid_name, pool.name_taken, input.invalid for an engine or option that there is none. */
  create(caller: Caller, input: PoolChange & { readonly name: unknown }): Promise<void>;
  /** Errors: pool.not_found, input.invalid, pool.in_use for the default pool, and for another place while apps are in it. */
  update(caller: Caller, name: string, change: PoolChange): Promise<void>;
  /** Errors: pool.not_found, pool.in_use. */
  remove(caller: Caller, name: string): Promise<void>;
  /** Teams that have access already are ignored. Errors: pool.not_found, pool.in_use for a public pool, team.not_found. */
  addTeams(caller: Caller, name: string, teams: readonly string[]): Promise<void>;
  /** Teams without access are ignored; apps that are in the pool stay. */
  removeTeams(caller: Caller, name: string, teams: readonly string[]): Promise<void>;
}

interface PoolsDeps {
  readonly store: Store;
  readonly act: Act;
  readonly provisioner: Pick<Engines, 'engines'>;
  readonly now: () => Date;
}

export function createPools({ store, act, provisioner, now }: PoolsDeps): Pools {
  const all = async (): Promise<Pool[]> => [DEFAULT_POOL, ...(await store.pools())];

  async function teamsOf(caller: Caller): Promise<readonly string[]> {
    if (caller.kind === 'user' && !caller.isAdmin) return caller.teams;
    return (await store.teams()).map((team) => team.name);
  }

  /** Options belong to an engine: with another one they are those that are given, else none. */
  function placementOf({ engine, options }: EngineChoice, before: Placement | null): Placement | null {
    if (engine === undefined && options === undefined) return before;
    const kept = engine === undefined ? before?.options : undefined;
    return readPlacement(provisioner, engine ?? before?.engine ?? '', options ?? kept ?? {});
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
      const own = provisioner.engines[0]?.name ?? '';
      const pools = (await all()).map((pool) => ({ ...pool, engine: pool.placement?.engine ?? own }));
      if (caller.kind !== 'user' || caller.isAdmin) return pools;
      return pools.filter((pool) => pool.isPublic || caller.teams.some((team) => mayUsePool(pool, team)));
    },

    async create(caller, input) {
      const target = `pool:${typeof input.name === 'string' ? input.name.slice(0, 63) : ''}`;
      await act(caller, 'pool.create', {}, { target }, async () => {
        const name = checkPoolName(input.name);
        if (name === DEFAULT_POOL.name)
          throw new PlatformError('pool.name_taken', 'There is already a pool "default".');
        const { isPublic = false } = input;
        const placement = placementOf(input, null);
        const createdAt = now().toISOString();
        await store.transact((tx) => tx.insertPool({ name, isPublic, teams: [], placement, createdAt }));
      });
    },

    async update(caller, name, change) {
      const { isPublic } = change;
      const options = { target: `pool:${name.slice(0, 63)}`, detail: detailOf(change) };
      await act(caller, 'pool.update', {}, options, async () => {
        await store.transact(async (tx) => {
          const pool = await demandPool(tx, name);
          const placement = placementOf(change, pool.placement);
          const isElsewhere = !isSamePlacement(placement, pool.placement);
          const isOther = isPublic !== undefined && pool.isPublic !== isPublic;
          if (pool === DEFAULT_POOL && (isOther || isElsewhere)) throw defaultStays(isElsewhere);
          if (isElsewhere) await demandEmpty(tx, name, 'cannot be put elsewhere');
          if (isElsewhere) await tx.setPoolPlacement(name, placement);
          if (isOther) await tx.setPoolPublic(name, isPublic);
        });
      });
    },

    async remove(caller, name) {
      await act(caller, 'pool.remove', {}, { target: `pool:${name.slice(0, 63)}` }, async () => {
        await store.transact(async (tx) => {
          const pool = await demandPool(tx, name);
          if (pool === DEFAULT_POOL) throw new PlatformError('pool.in_use', 'The default pool cannot be removed.');
          await demandEmpty(tx, name, 'cannot be removed');
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

function detailOf({ isPublic, engine, options }: PoolChange): string {
  const open = isPublic === undefined ? [] : [isPublic ? 'public' : 'not public'];
  const where = engine === undefined && options === undefined ? [] : [`engine ${engine ?? 'as before'}`];
  return [...open, ...where].join(', ');
}

function defaultStays(isElsewhere: boolean): PlatformError {
  if (!isElsewhere) return new PlatformError('pool.in_use', 'The default pool stays open to all teams.');
  return new PlatformError('pool.in_use', "The default pool stays on the server's own engine.", {
    hint: 'Create another pool: tancho pool create <pool> --engine <engine>.',
  });
}

async function demandEmpty(tx: StoreReader, name: string, what: string): Promise<void> {
  const apps = (await tx.apps()).filter((app) => app.pool === name).map((app) => app.name);
  if (apps.length === 0) return;
  throw new PlatformError('pool.in_use', `The pool ${name} ${what}, there are apps in it: ${apps.join(', ')}.`, {
    hint: 'Move them first: tancho app update <app> --pool <pool>.',
    details: { apps },
  });
}
