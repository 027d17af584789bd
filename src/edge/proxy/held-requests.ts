import type { LiveRoute, LiveTable } from '../routing/route-table.ts';
import type { Applicant } from '../routing/target-pool.ts';

interface Held {
  readonly host: string;
  readonly route: LiveRoute;
  /** Its units take no connection; else its rules have it wait. */
  readonly isUnreached: boolean;
}

/** Requests that wait for their app to be served again: by another route for their host, or by units that could not be reached before. */
export class HeldRequests {
  readonly #mostPerApp: number;
  readonly #byApp = new Map<string, Map<Applicant, Held>>();
  /** Of which one has asked the units again at the last look. */
  #probed: ReadonlySet<LiveRoute> = new Set();

  constructor(mostPerApp: number) {
    this.#mostPerApp = mostPerApp;
  }

  /** False when as many wait already as may. */
  add(applicant: Applicant, held: Held): boolean {
    const { app } = held.route;
    const ofApp = this.#byApp.get(app) ?? new Map<Applicant, Held>();
    if (ofApp.size >= this.#mostPerApp) return false;
    ofApp.set(applicant, held);
    this.#byApp.set(app, ofApp);
    return true;
  }

  forget(app: string, applicant: Applicant): void {
    const ofApp = this.#byApp.get(app);
    if (ofApp?.delete(applicant) === true && ofApp.size === 0) this.#byApp.delete(app);
  }

  /** Lets those choose a unit again whose host has another route now, which may not serve it either. */
  release(table: LiveTable): void {
    for (const [applicant, { host, route }] of this.#all())
      if (table.match(host) !== route) this.#let(route.app, applicant);
  }

  /**
   * To be called several times a second. One for each route asks its units again once any has been left alone for a while; where none has refused
   * it until the next call, all do.
   */
  askAgain(now: number): void {
    const probed = new Set<LiveRoute>();
    for (const [applicant, { route, isUnreached }] of this.#all()) {
      if (!isUnreached || route.pools.every((pool) => pool.isDown(now))) continue;
      if (probed.has(route) && !this.#probed.has(route)) continue;
      probed.add(route);
      this.#let(route.app, applicant);
    }
    this.#probed = probed;
  }

  #all(): readonly (readonly [Applicant, Held])[] {
    return [...this.#byApp.values()].flatMap((ofApp) => [...ofApp]);
  }

  #let(app: string, applicant: Applicant): void {
    if (this.#byApp.get(app)?.has(applicant) !== true) return;
    this.forget(app, applicant);
    applicant.unitWithdrawn();
  }
}
