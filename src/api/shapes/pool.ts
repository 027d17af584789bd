import { DEFAULT_POOL, type Pool } from '../../domain/pools/pool.ts';
import type { TeamPools } from '../../domain/pools/pools.ts';
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
});

export const pools = shape(Type.Array(pool), (list: readonly Pool[]) =>
  list.map(({ name, teams, isPublic }) => ({
    Name: name,
    Teams: [...teams],
    Public: isPublic,
    Default: name === DEFAULT_POOL.name,
  })),
);
