/**
 * How much of something may be used: the apps a user owns, the units an app has. Rules only; they hold because they are
 * judged in the transaction that adds what is counted.
 */
import type { AppReader } from '../apps/app-store.ts';
import { servingUnits } from '../units/unit.ts';
import { PlatformError } from '../errors.ts';
import type { UserReader } from '../users/user-store.ts';
import type { Limit } from './limit.ts';
import type { QuotaReader } from './quota-store.ts';

export interface Quota {
  readonly limit: Limit;
  readonly inUse: number;
}

/** What holds for whom nothing else was set. */
export interface DefaultLimits {
  readonly appsPerUser: Limit;
  readonly unitsPerApp: Limit;
}

export const UNLIMITED: DefaultLimits = { appsPerUser: null, unitsPerApp: null };

/** How much is left; null: no end to it. Never negative, also where the limit was lowered below what is in use. */
export function availableOf(quota: Quota): Limit {
  return quota.limit === null ? null : Math.max(0, quota.limit - quota.inUse);
}

export async function userQuota(store: QuotaReader, email: string, defaults: DefaultLimits): Promise<Quota> {
  const limit = await store.userLimit(email);
  return { limit: limit === undefined ? defaults.appsPerUser : limit, inUse: await store.appsOwned(email) };
}

export async function appQuota(
  store: QuotaReader & Pick<AppReader, 'app' | 'units'>,
  app: string,
  defaults: DefaultLimits,
): Promise<Quota> {
  const limit = await store.appLimit(app);
  const found = await store.app(app);
  const inUse = found === null ? 0 : servingUnits(found, await store.units(app)).length;
  return { limit: limit === undefined ? defaults.unitsPerApp : limit, inUse };
}

/**
 * To be called in the transaction that inserts an app of `owner`. Throws `quota.exceeded`; `user.not_found` when the
 * owner was removed in the meantime, for an app without an owner would count against nobody.
 */
export async function reserveApp(
  tx: QuotaReader & Pick<UserReader, 'user'>,
  owner: string,
  defaults: DefaultLimits,
): Promise<void> {
  if ((await tx.user(owner)) === null) throw new PlatformError('user.not_found', `User ${owner} not found.`);
  const available = availableOf(await userQuota(tx, owner, defaults));
  if (available !== null && available < 1) throw exceeded(available, 1, 'Remove an app, or ask an admin for more.');
}

/**
 * To be called in the transaction after which the app is to have so many units. Throws `quota.exceeded`. What an app
 * has already it may keep, so that a lowered limit stops no restart.
 */
export async function reserveUnits(
  tx: QuotaReader & Pick<AppReader, 'app' | 'units'>,
  app: string,
  wanted: number,
  defaults: DefaultLimits,
): Promise<void> {
  const quota = await appQuota(tx, app, defaults);
  if (quota.limit === null || wanted <= quota.limit || wanted <= quota.inUse) return;
  const hint = `The app ${app} may have ${quota.limit} ${quota.limit === 1 ? 'unit' : 'units'}; run fewer, or ask an admin for more.`;
  throw exceeded(Math.max(0, quota.limit - quota.inUse), wanted - quota.inUse, hint);
}

function exceeded(available: number, requested: number, hint: string): PlatformError {
  return new PlatformError('quota.exceeded', `Quota exceeded. Available: ${available}. Requested: ${requested}.`, {
    hint,
    details: { available, requested },
  });
}
