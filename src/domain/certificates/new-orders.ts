/**
 * How many new certificates the apps of one user are asked for. An authority's limits are for the whole platform: Let's Encrypt takes
 * 300 orders of an account in three hours, and 50 a week for the names below one registered domain; renewals do not count there.
 * https://letsencrypt.org/docs/rate-limits/
 */
import type { Store } from '../store.ts';
import { IssueFailure } from './authority.ts';
import type { CertificateRecord } from './certificate.ts';

interface NewOrdersDeps {
  readonly store: Pick<Store, 'app' | 'user'>;
  readonly domain: string;
  /** Of one user, for names below `domain`; 0: no bound. */
  readonly mostPerWeek: number;
  readonly now: () => Date;
}

interface NewOrder {
  readonly owner: string;
  /** The name is below the domain, and the order became a certificate or still may. */
  isBelowDomain: boolean;
  readonly at: number;
}

/** To be called where no certificate came of it. An order that was made counts for the authority's bound of orders all the same. */
type CameToNothing = (wasOrdered: boolean) => void;

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
const BURST_MS = 3 * HOUR_MS;
const MOST_IN_BURST = 100;

export class NewOrders {
  readonly #deps: NewOrdersDeps;
  /** Oldest first. Those before the start of this process are not counted. */
  #orders: NewOrder[] = [];

  constructor(deps: NewOrdersDeps) {
    this.#deps = deps;
  }

  /** Counts one that is about to be made. Names of the platform, and of admins, have no bound. Throws IssueFailure `user_limit`. */
  async count({ app, names }: Pick<CertificateRecord, 'app' | 'names'>): Promise<CameToNothing> {
    const { store, domain, mostPerWeek, now } = this.#deps;
    const owner = (await store.app(app))?.owner;
    if (owner === undefined || (await store.user(owner))?.isAdmin === true) return () => {};
    const at = now().getTime();
    this.#orders = this.#orders.filter((one) => one.at > at - WEEK_MS);
    const own = this.#orders.filter((one) => one.owner === owner);
    const isBelowDomain = names.some((name) => name.endsWith(`.${domain}`));
    const recent = own.filter((one) => one.at > at - BURST_MS);
    demandFewer(recent, MOST_IN_BURST, { owner, period: 'in three hours', periodMs: BURST_MS });
    if (isBelowDomain && mostPerWeek > 0) {
      const below = own.filter((one) => one.isBelowDomain);
      demandFewer(below, mostPerWeek, { owner, period: `a week below ${domain}`, periodMs: WEEK_MS });
    }
    const order: NewOrder = { owner, isBelowDomain, at };
    this.#orders.push(order);
    return (wasOrdered) => {
      if (wasOrdered) order.isBelowDomain = false;
      else this.#orders = this.#orders.filter((one) => one !== order);
    };
  }
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
