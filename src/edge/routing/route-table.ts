import type { Route, RouteRules, RouteTable } from '../../domain/routes/router.ts';
import { HostMap } from '../../lib/host-map.ts';
import type { AppCounter } from './traffic.ts';
import type { TargetPool } from './target-pool.ts';

/** One app as requests see it. */
export interface LiveRoute {
  readonly app: string;
  readonly note: string;
  readonly https: Route['https'];
  /** Milliseconds from the whole request to the head of its answer. */
  readonly answerMs: number;
  /** Null for nearly all: nothing is looked at. */
  readonly rules: RouteRules | null;
  readonly pools: readonly TargetPool[];
  readonly counter: AppCounter;
}

/** A whole table made ready for look-ups; never changed once made. */
export class LiveTable {
  readonly version: number;
  readonly #hosts = new HostMap<LiveRoute>();

  /** Of two routes that claim the same host the first keeps it. */
  constructor(table: RouteTable, live: (route: Route) => LiveRoute) {
    this.version = table.version;
    for (const route of table.routes) {
      const made = live(route);
      for (const host of route.hosts) this.#hosts.add(host, made);
    }
  }

  /** `host`: lower case, no port, no trailing dot. */
  match(host: string): LiveRoute | null {
    return this.#hosts.get(host);
  }
}
