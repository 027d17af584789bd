import type { Route, RouteTable } from '../../domain/routes/router.ts';
import type { AppCounter } from './traffic.ts';
import type { TargetPool } from './target-pool.ts';

/** One app as requests see it. */
export interface LiveRoute {
  readonly app: string;
  readonly note: string;
  readonly pools: readonly TargetPool[];
  readonly counter: AppCounter;
}

/** A whole table made ready for look-ups; never changed once made. */
export class LiveTable {
  readonly version: number;
  readonly #exact = new Map<string, LiveRoute>();
  /** Keyed by what follows the `*`, dot included. */
  readonly #wildcard = new Map<string, LiveRoute>();

  /** Of two routes that claim the same host the first keeps it. */
  constructor(table: RouteTable, live: (route: Route) => LiveRoute) {
    this.version = table.version;
    for (const route of table.routes) {
      const made = live(route);
      for (const host of route.hosts) {
        const [hosts, key] = host.startsWith('*.') ? [this.#wildcard, host.slice(1)] : [this.#exact, host];
        if (!hosts.has(key)) hosts.set(key, made);
      }
    }
  }

  /** `host`: lower case, no port, no trailing dot. Exact names win over wildcards; `*` stands for one label. */
  match(host: string): LiveRoute | null {
    const exact = this.#exact.get(host);
    if (exact !== undefined) return exact;
    if (this.#wildcard.size === 0) return null;
    const dot = host.indexOf('.');
    return dot <= 0 ? null : (this.#wildcard.get(host.slice(dot)) ?? null);
  }
}
