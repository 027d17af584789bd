import { PlatformError } from '../../../domain/errors.ts';
import type { PoolReader, PoolWriter } from '../../../domain/pools/pool-store.ts';
import type { Placement } from '../../../domain/pools/placement.ts';
import type { Pool } from '../../../domain/pools/pool.ts';
import { needing, teamsNotFound } from './faults.ts';
import { gathered, teamsOf } from './gathered.ts';
import type { Scope } from './schema.ts';

export function poolReader({ db }: Scope): PoolReader {
  const rows = () =>
    db
      .selectFrom('pools')
      .leftJoin('pool_teams', 'pool_teams.pool', 'pools.name')
      .selectAll('pools')
      .select('pool_teams.team')
      .orderBy('pools.name')
      .orderBy('pool_teams.team');
  return {
    async pool(name) {
      return fromRows(await rows().where('pools.name', '=', name).execute())[0] ?? null;
    },
    async pools() {
      return fromRows(await rows().execute());
    },
  };
}

export function poolWriter({ db }: Scope): PoolWriter {
  const insertTeams = async (pool: string, teams: readonly string[]): Promise<void> => {
    if (teams.length === 0) return;
    const values = [...new Set(teams)].map((team) => ({ pool, team }));
    await needing(() => teamsNotFound(teams), db.insertInto('pool_teams').values(values).execute());
  };
  return {
    async insertPool({ name, isPublic, teams, placement, createdAt }) {
      const done = await db
        .insertInto('pools')
        .values({ name, is_public: Number(isPublic), created_at: createdAt, placement_json: toJson(placement) })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (done.numInsertedOrUpdatedRows !== 1n) {
        throw new PlatformError('pool.name_taken', `There is already a pool called ${name}.`, {
          hint: 'Choose another name.',
        });
      }
      await insertTeams(name, teams);
    },
    async deletePool(name) {
      await db.deleteFrom('pools').where('name', '=', name).execute();
    },
    async setPoolPublic(name, isPublic) {
      const change = { is_public: Number(isPublic) };
      const done = await db.updateTable('pools').set(change).where('name', '=', name).executeTakeFirst();
      if (done.numUpdatedRows === 0n) throw poolNotFound(name);
      if (isPublic) await db.deleteFrom('pool_teams').where('pool', '=', name).execute();
    },
    async setPoolPlacement(name, placement) {
      const change = { placement_json: toJson(placement) };
      const done = await db.updateTable('pools').set(change).where('name', '=', name).executeTakeFirst();
      if (done.numUpdatedRows === 0n) throw poolNotFound(name);
    },
    async setPoolTeams(name, teams) {
      const known = await db.selectFrom('pools').select('name').where('name', '=', name).executeTakeFirst();
      if (known === undefined) throw poolNotFound(name);
      await db.deleteFrom('pool_teams').where('pool', '=', name).execute();
      await insertTeams(name, teams);
    },
  };
}

function toJson(placement: Placement | null): string | null {
  return placement && JSON.stringify(placement);
}

function poolNotFound(name: string): PlatformError {
  return new PlatformError('pool.not_found', `There is no pool called ${name}.`);
}

interface Row {
  readonly name: string;
  readonly is_public: number;
  readonly created_at: string;
  readonly placement_json: string | null;
  readonly team: string | null;
}

/** One row per team of a pool, pools and teams in order. */
function fromRows(rows: readonly Row[]): Pool[] {
  return gathered(
    rows,
    ({ name }) => name,
    (row, all) => ({
      name: row.name,
      isPublic: row.is_public === 1,
      teams: teamsOf(all),
      placement: row.placement_json === null ? null : (JSON.parse(row.placement_json) as Placement),
      createdAt: row.created_at,
    }),
  );
}
