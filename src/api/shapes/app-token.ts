import { Type } from '../schema.ts';
import { type AppToken, tokenId } from '../../domain/app-tokens/app-token.ts';
import type { NewAppToken } from '../../domain/app-tokens/app-tokens.ts';
import { shape } from './shape.ts';
import { nanoseconds } from './wire-time.ts';

/** `Creation` is a day in UTC; `Expires` the whole life of the token in nanoseconds, as other servers count it. */
export const appToken = shape(
  Type.Object({ Token: Type.String(), Creation: Type.String(), Expires: Type.Integer(), AppName: Type.String() }),
  ({ token, record }: NewAppToken) => ({
    Token: token,
    Creation: record.createdAt.slice(0, 10).replaceAll('-', '/'),
    Expires: nanoseconds(Date.parse(record.expiresAt) - Date.parse(record.createdAt)),
    AppName: record.app,
  }),
);

/** Without the tokens themselves: they are shown once. Times in ISO 8601 UTC. */
export const appTokens = shape(
  Type.Array(
    Type.Object({
      Id: Type.String(),
      AppName: Type.String(),
      CreatedBy: Type.String(),
      CreatedAt: Type.String(),
      ExpiresAt: Type.String(),
    }),
  ),
  (tokens: readonly AppToken[]) =>
    tokens.map((token) => ({
      Id: tokenId(token),
      AppName: token.app,
      CreatedBy: token.by,
      CreatedAt: token.createdAt,
      ExpiresAt: token.expiresAt,
    })),
);
