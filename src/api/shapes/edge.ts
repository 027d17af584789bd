import type { EdgeToken } from '../../domain/edges/edge-tokens.ts';
import type { EdgeView } from '../../domain/edges/edges.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

/** Times in ISO 8601 UTC. */
export const edges = shape(
  Type.Array(
    Type.Object({
      Name: Type.String(),
      /** `following` or `lost`. */
      State: Type.String(),
      Address: Type.String(),
      /** Of its program. */
      Version: Type.String(),
      Server: Type.String(),
      Since: Type.String(),
      /** When it was lost; '' if it follows, or nobody has seen it. */
      LostAt: Type.String(),
      /** Version of the table that it serves by; 0 where another server knows. */
      Table: Type.Integer(),
    }),
  ),
  (all: readonly EdgeView[]) =>
    all.map(({ name, address, program, server, since, lostAt, table, isAlive }) => ({
      Name: name,
      State: isAlive ? 'following' : 'lost',
      Address: address,
      Version: program,
      Server: server,
      Since: since,
      LostAt: lostAt ?? '',
      Table: table ?? 0,
    })),
);

export const edgeToken = shape(
  Type.Object({ Token: Type.String(), Name: Type.String(), CreatedBy: Type.String(), CreatedAt: Type.String() }),
  ({ token, name, by, createdAt }: EdgeToken & { readonly token: string }) => ({
    Token: token,
    Name: name,
    CreatedBy: by,
    CreatedAt: createdAt,
  }),
);

/** Without the tokens themselves: they are shown once. */
export const edgeTokens = shape(
  Type.Array(Type.Object({ Name: Type.String(), CreatedBy: Type.String(), CreatedAt: Type.String() })),
  (tokens: readonly EdgeToken[]) =>
    tokens.map(({ name, by, createdAt }) => ({ Name: name, CreatedBy: by, CreatedAt: createdAt })),
);
