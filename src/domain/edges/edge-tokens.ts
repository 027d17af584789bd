/** Tokens by which edges elsewhere follow: of the installation, not of a user. One text in the store: there are few, and they seldom change. */
import { randomHex } from '../../lib/ids.ts';
import { demand } from '../access.ts';
import type { Act } from '../act.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { SettingReader, SettingWriter } from '../store.ts';
import { hashToken, TOKEN_DIGITS } from '../users/sessions.ts';

export interface EdgeToken {
  readonly name: string;
  readonly by: string;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
}

interface Kept extends EdgeToken {
  readonly hash: string;
}

/** For admins. */
export interface EdgeTokens {
  /** The answer is the only moment at which the token can be seen. `name`: '' for one that is made up. Errors: input.invalid. */
  create(caller: Caller, name: string): Promise<EdgeToken & { readonly token: string }>;
  list(caller: Caller): Promise<EdgeToken[]>;
  /** Ends the streams of the edges that have it, on all servers. Errors: token.not_found. */
  revoke(caller: Caller, name: string): Promise<void>;
}

interface EdgeTokensDeps {
  readonly store: SettingReader & { transact<T>(work: (tx: SettingReader & SettingWriter) => Promise<T>): Promise<T> };
  readonly act: Act;
  readonly now: () => Date;
}

const KEY = 'edges.tokens';
const MOST = 100;
const NAME_DIGITS = 8;
export const EDGE_NAME = /^[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?$/;
export const NAME_RULE = 'Use lower-case letters, digits, dots and dashes, 64 at most, such as "berlin-1".';

export async function isEdgeToken(store: SettingReader, token: string): Promise<boolean> {
  const hash = hashToken(token);
  return hash !== '' && tokensIn(await store.setting(KEY)).some((one) => one.hash === hash);
}

export function createEdgeTokens({ store, act, now }: EdgeTokensDeps): EdgeTokens {
  const change = (work: (tokens: readonly Kept[]) => Kept[]): Promise<void> =>
    store.transact(async (tx) => tx.setSetting(KEY, JSON.stringify(work(tokensIn(await tx.setting(KEY))))));

  return {
    async create(caller, wanted) {
      const name = wanted || `edge-${randomHex(NAME_DIGITS)}`;
      return act(caller, 'edge_token.create', {}, { target: `edge-token:${name.slice(0, 64)}` }, async () => {
        if (!EDGE_NAME.test(name)) throw invalid(`"${name.slice(0, 64)}" cannot be the name of a token.`, NAME_RULE);
        const token = randomHex(TOKEN_DIGITS);
        const made = { name, by: callerName(caller), createdAt: now().toISOString() };
        await change((tokens) => {
          if (tokens.some((one) => one.name === name))
            throw invalid(`There is a token "${name}" already.`, `To end it: tancho edge token-revoke ${name}`);
          if (tokens.length >= MOST)
            throw invalid(`There are ${MOST} tokens already.`, 'Several edges may have one; end those without use.');
          return [...tokens, { ...made, hash: hashToken(token) }];
        });
        return { ...made, token };
      });
    },

    async list(caller) {
      demand(caller, 'edge_token.list');
      return tokensIn(await store.setting(KEY)).map(({ name, by, createdAt }) => ({ name, by, createdAt }));
    },

    revoke: (caller, name) =>
      act(caller, 'edge_token.revoke', {}, { target: `edge-token:${name.slice(0, 64)}` }, () =>
        change((tokens) => {
          const left = tokens.filter((one) => one.name !== name);
          if (left.length < tokens.length) return left;
          throw new PlatformError('token.not_found', 'There is no such token of an edge.', {
            hint: 'List them with "tancho edge token-list".',
          });
        }),
      ),
  };
}

function tokensIn(text: string | null): Kept[] {
  return text === null ? [] : (JSON.parse(text) as Kept[]);
}

function invalid(message: string, hint: string): PlatformError {
  return new PlatformError('input.invalid', message, { hint });
}
