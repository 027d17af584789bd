import { DEFAULT_POOL } from '../../domain/pools/pool.ts';
import type { PoolView, TeamPools } from '../../domain/pools/pools.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

const entry = Type.Object({ Team: Type.String(), Pools: Type.Array(Type.String()) });

export const teamPools = shape(Type.Array(entry), (list: readonly TeamPools[]) =>
  list.map(({ team, pools }) => ({ Team: team, Pools: [...pools] })),
);

const pool = Type.Object({
  Name: Type.String(),
  Teams: Type.Array(Type.String()),
  Public: Type.Boolean(),
  Default: Type.Boolean(),
  Engine: Type.String(),
  Options: Type.Record(Type.String(), Type.String()),
});

export const pools = shape(Type.Array(pool), (list: readonly PoolView[]) =>
  list.map(({ name, teams, isPublic, engine, placement }) => ({
    Name: name,
    Teams: [...teams],
    Public: isPublic,
    Default: name === DEFAULT_POOL.name,
    Engine: engine,
    Options: { ...placement?.options },
  })),
);
