/** Use cases of quotas (specification 4.4): what somebody may use, and what is in use. */
import { demand } from '../access.ts';
import type { Act } from '../act.ts';
import type { AppReader } from '../apps/app-store.ts';
import { demandApp } from '../demand-app.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import { userNotFound } from '../users/authentication.ts';
import { normalEmail } from '../users/email.ts';
import type { UserReader } from '../users/user-store.ts';
import type { Limit } from './limit.ts';
import { appQuota, type DefaultLimits, type Quota, userQuota } from './quota.ts';
import type { QuotaReader, QuotaWriter } from './quota-store.ts';

export interface Quotas {
  /** Apps that the user owns. For the user and admins. Errors: user.not_found. */
  ofUser(caller: Caller, email: string): Promise<Quota>;
  /** For admins. `limit`: a whole number; below 0 is without limit. Errors: user.not_found, input.invalid. */
  setUser(caller: Caller, email: string, limit: unknown): Promise<void>;
  /** Units that serve. For the app's teams and admins. Errors: app.not_found. */
  ofApp(caller: Caller, app: string): Promise<Quota>;
  /** For admins. A limit below what is in use stops nothing that runs. Errors: app.not_found, input.invalid. */
  setApp(caller: Caller, app: string, limit: unknown): Promise<void>;
}

type QuotaStoreReader = QuotaReader & Pick<AppReader, 'app' | 'units'> & Pick<UserReader, 'user'>;

interface QuotasDeps {
  readonly store: QuotaStoreReader & { transact<T>(work: (tx: QuotaWriter) => Promise<T>): Promise<T> };
  readonly act: Act;
  readonly defaults: DefaultLimits;
}

export function createQuotas(deps: QuotasDeps): Quotas {
  const { store, act, defaults } = deps;

  async function demandUser(email: string): Promise<void> {
    if ((await store.user(email)) === null) throw userNotFound();
  }

  return {
    async ofUser(caller, user) {
      const email = normalEmail(user);
      demand(caller, 'quota.user', { email });
      await demandUser(email);
      return userQuota(store, email, defaults);
    },

    async setUser(caller, user, wanted) {
      const email = normalEmail(user);
      demand(caller, 'quota.user_set', { email });
      await demandUser(email);
      const limit = readLimit(wanted);
      const options = { target: `user:${email}`, detail: limitText(limit) };
      await act(caller, 'quota.user_set', { email }, options, () =>
        store.transact((tx) => tx.setUserLimit(email, limit)),
      );
    },

    async ofApp(caller, name) {
      const app = await demandApp(store, name);
      demand(caller, 'quota.app', { app });
      return appQuota(store, name, defaults);
    },

    async setApp(caller, name, wanted) {
      await demandApp(store, name);
      demand(caller, 'quota.app_set');
      const limit = readLimit(wanted);
      const options = { target: `app:${name}`, detail: limitText(limit) };
      await act(caller, 'quota.app_set', {}, options, () => store.transact((tx) => tx.setAppLimit(name, limit)));
    },
  };
}

function readLimit(limit: unknown): Limit {
  const number = typeof limit === 'string' && /^-?\d{1,9}$/.test(limit.trim()) ? Number(limit) : limit;
  if (typeof number !== 'number' || !Number.isInteger(number) || Math.abs(number) > 999_999_999) {
    throw new PlatformError('input.invalid', 'Invalid limit', {
      hint: 'Send "limit" as a whole number; -1 is without limit.',
    });
  }
  return number < 0 ? null : number;
}

function limitText(limit: Limit): string {
  return limit === null ? 'unlimited' : String(limit);
}
