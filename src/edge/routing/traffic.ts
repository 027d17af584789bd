import type { AppTraffic } from '../../domain/routes/router.ts';

export interface AppCounter {
  requests: number;
  failures: number;
}

/** Counters per app, for the apps of the table only. */
export class Traffic {
  readonly #apps = new Map<string, AppCounter>();

  counter(app: string): AppCounter {
    const known = this.#apps.get(app);
    if (known !== undefined) return known;
    const counter = { requests: 0, failures: 0 };
    this.#apps.set(app, counter);
    return counter;
  }

  of(app: string): AppTraffic {
    const counter = this.#apps.get(app);
    return { requests: counter?.requests ?? 0, failures: counter?.failures ?? 0 };
  }

  keepOnly(apps: ReadonlySet<string>): void {
    for (const app of this.#apps.keys()) if (!apps.has(app)) this.#apps.delete(app);
  }
}
