/**
 * How many new certificates the apps of one user are asked for. An authority's limits are for the whole platform: Let's Encrypt takes
 * 300 orders of an account in three hours, and 50 a week for the names below one registered domain; renewals do not count there.
 * https://letsencrypt.org/docs/rate-limits/
 */
import { randomHex } from '../../lib/ids.ts';
import type { Store, StoreWriter } from '../store.ts';
import { IssueFailure } from './authority.ts';
import type { CertificateRecord } from './certificate.ts';

interface NewOrdersDeps {
  readonly store: Pick<Store, 'app' | 'user' | 'transact'>;
  readonly domain: string;
  /** Of one user, for names below `domain`; 0: no bound. */
  readonly mostPerWeek: number;
  readonly now: () => Date;
}

interface NewOrder {
  readonly id: string;
  /** The name is below the domain, and the order became a certificate or still may. */
  readonly isBelowDomain: boolean;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** To be called where no certificate came of it. An order that was made counts for the authority's bound of orders all the same. */
type CameToNothing = (wasOrdered: boolean) => Promise<void>;

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
const BURST_MS = 3 * HOUR_MS;
const MOST_IN_BURST = 100;
const ID_DIGITS = 16;

export class NewOrders {
  readonly #deps: NewOrdersDeps;

  constructor(deps: NewOrdersDeps) {
    this.#deps = deps;
  }

  /** Counts one that is about to be made. Names of the platform, and of admins, have no bound. Throws IssueFailure `user_limit`. */
  async count({ app, names }: Pick<CertificateRecord, 'app' | 'names'>): Promise<CameToNothing> {
    const { store, domain, mostPerWeek, now } = this.#deps;
    const owner = (await store.app(app))?.owner;
    if (owner === undefined || (await store.user(owner))?.isAdmin === true) return async () => {};
    const at = now().getTime();
    const id = randomHex(ID_DIGITS);
    const isBelowDomain = names.some((name) => name.endsWith(`.${domain}`));
    await this.#change(owner, (own) => {
      const recent = own.filter((one) => one.at > at - BURST_MS);
      demandFewer(recent, MOST_IN_BURST, { owner, period: 'in three hours', periodMs: BURST_MS });
      if (isBelowDomain && mostPerWeek > 0) {
        const below = own.filter((one) => one.isBelowDomain);
        demandFewer(below, mostPerWeek, { owner, period: `a week below ${domain}`, periodMs: WEEK_MS });
      }
      return [...own, { id, isBelowDomain, at }];
    });
    return (wasOrdered) =>
      this.#change(owner, (own) =>
        own.flatMap((one) => {
          if (one.id !== id) return [one];
          return wasOrdered ? [{ ...one, isBelowDomain: false }] : [];
        }),
      );
  }

  /** `change` is given those that count still, oldest first. */
  #change(owner: string, change: (own: readonly NewOrder[]) => readonly NewOrder[]): Promise<void> {
    const { store, now } = this.#deps;
    const key = `certificates.new-orders ${owner}`;
    return store.transact(async (tx) => {
      const at = now().getTime();
      const counts = (one: NewOrder): boolean => {
        const ageMs = at - one.at;
        // A clock that was ahead and is set back is not to keep anybody waiting until then.
        return ageMs > -BURST_MS && ageMs < (one.isBelowDomain ? WEEK_MS : BURST_MS);
      };
      await tx.setSetting(key, JSON.stringify(change((await ordersIn(tx, key)).filter(counts))));
    });
  }
}

async function ordersIn(tx: StoreWriter, key: string): Promise<NewOrder[]> {
  return JSON.parse((await tx.setting(key)) ?? '[]') as NewOrder[];
}

function demandFewer(
  made: readonly NewOrder[],
  most: number,
  { owner, period, periodMs }: { readonly owner: string; readonly period: string; readonly periodMs: number },
): void {
  const first = made[made.length - most];
  if (first === undefined) return;
  throw new IssueFailure('user_limit', `The apps of ${owner} get at most ${most} new certificates ${period}.`, {
    retryAt: new Date(first.at + periodMs),
  });
}
