import type { Applicant } from '../routing/target-pool.ts';

/** Requests that wait for their app to be served again: they try again with each new table, which may not serve it either. */
export class HeldRequests {
  readonly #mostPerApp: number;
  readonly #byApp = new Map<string, Set<Applicant>>();

  constructor(mostPerApp: number) {
    this.#mostPerApp = mostPerApp;
  }

  /** False when as many wait already as may. */
  add(app: string, applicant: Applicant): boolean {
    const held = this.#byApp.get(app) ?? new Set<Applicant>();
    if (held.size >= this.#mostPerApp) return false;
    held.add(applicant);
    this.#byApp.set(app, held);
    return true;
  }

  forget(app: string, applicant: Applicant): void {
    const held = this.#byApp.get(app);
    if (held?.delete(applicant) === true && held.size === 0) this.#byApp.delete(app);
  }

  /** Lets every held request choose a unit again. */
  release(): void {
    if (this.#byApp.size === 0) return;
    const all = [...this.#byApp.values()].flatMap((held) => [...held]);
    this.#byApp.clear();
    for (const applicant of all) applicant.unitWithdrawn();
  }
}
