/** Use cases of app tokens (specification 4.9): what lets a program act on one app, and on nothing else. */
import { randomHex } from '../../lib/ids.ts';
import { demand } from '../access.ts';
import type { Act } from '../act.ts';
import type { AppReader, AppWriter } from '../apps/app-store.ts';
import { demandApp } from '../demand-app.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import { demandPlace, MOST } from '../bounds.ts';
import { hashToken, TOKEN_DIGITS } from '../users/sessions.ts';
import { APP_TOKEN_DAYS, APP_TOKEN_VARIABLE, type AppToken, tokenId } from './app-token.ts';
import type { AppTokenReader, AppTokenWriter } from './app-token-store.ts';

export interface NewAppToken {
  /** The only moment at which it can be seen. */
  readonly token: string;
  readonly record: AppToken;
}

export interface AppTokens {
  /**
   * `client` names the app; `isExported` also sets it as the app's private variable TANCHO_APP_TOKEN, which its next
   * rollout starts with. Errors: app.invalid_name (no client), app.not_found.
   */
  create(caller: Caller, input: { client: unknown; isExported: boolean }): Promise<NewAppToken>;
  /** Newest first, without the expired; none can be made a token of again. Errors: app.not_found. */
  list(caller: Caller, app: string): Promise<AppToken[]>;
  /** Ends one, by its tokenId(). Errors: app.not_found, token.not_found. */
  revokeOne(caller: Caller, app: string, id: string): Promise<void>;
  /** Ends all tokens of the app; answers how many there were. Errors: as create(). */
  revoke(caller: Caller, client: unknown): Promise<number>;
}

interface AppTokensDeps {
  readonly store: Pick<AppReader, 'app'> &
    Pick<AppTokenReader, 'appTokens'> & {
      transact<T>(
        work: (tx: Pick<AppTokenReader, 'appTokens'> & AppTokenWriter & Pick<AppWriter, 'setEnv'>) => Promise<T>,
      ): Promise<T>;
    };
  readonly act: Act;
  readonly now: () => Date;
}

const DAY_MS = 86_400_000;

export function createAppTokens(deps: AppTokensDeps): AppTokens {
  const { store, act, now } = deps;

  return {
    async create(caller, { client, isExported }) {
      const name = clientName(client);
      const app = await demandApp(store, name);
      demand(caller, 'app_token.create', { app });
      const target = `app:${name}`;
      // The environment is changed under the app's lease only, or a change under way would not know of it.
      const options = isExported ? { target, lease: target, detail: 'exported' } : { target };
      return act(caller, 'app_token.create', { app }, options, async () => {
        const token = randomHex(TOKEN_DIGITS);
        const createdAt = now();
        const record: AppToken = {
          tokenHash: hashToken(token),
          app: name,
          by: callerName(caller),
          createdAt: createdAt.toISOString(),
          expiresAt: new Date(createdAt.getTime() + APP_TOKEN_DAYS * DAY_MS).toISOString(),
        };
        const variable = { name: APP_TOKEN_VARIABLE, value: token, public: false, managedBy: '' };
        await store.transact(async (tx) => {
          await tx.deleteExpiredAppTokens(record.createdAt);
          demandPlace((await tx.appTokens(name)).length, MOST.tokensOfApp, {
            plural: 'tokens of an app',
            hint: `Revoke one that is not needed: tancho app token-list ${name}`,
          });
          await tx.insertAppToken(record);
          if (isExported) await tx.setEnv(name, [variable]);
        });
        return { token, record };
      });
    },

    async list(caller, name) {
      const app = await demandApp(store, name);
      demand(caller, 'app_token.list', { app });
      const at = now().toISOString();
      return (await store.appTokens(app.name)).filter((token) => token.expiresAt > at);
    },

    async revokeOne(caller, name, id) {
      const app = await demandApp(store, name);
      const options = { target: `app:${app.name}`, detail: id.slice(0, 16) };
      await act(caller, 'app_token.revoke', { app }, options, () =>
        store.transact(async (tx) => {
          const token = (await tx.appTokens(app.name)).find((each) => tokenId(each) === id);
          if (token !== undefined && (await tx.deleteAppToken(token.tokenHash))) return;
          throw new PlatformError('token.not_found', `The app ${app.name} has no such token.`, {
            hint: `List them with "tancho app token-list ${app.name}".`,
          });
        }),
      );
    },

    async revoke(caller, client) {
      const name = clientName(client);
      const app = await demandApp(store, name);
      return act(caller, 'app_token.revoke', { app }, { target: `app:${name}` }, () =>
        store.transact((tx) => tx.deleteAppTokens(name)),
      );
    },
  };
}

function clientName(client: unknown): string {
  if (typeof client === 'string' && client !== '') return client;
  throw new PlatformError('app.invalid_name', 'Missing client name in JSON body', {
    hint: 'Send the name of an app as the field "client".',
  });
}
