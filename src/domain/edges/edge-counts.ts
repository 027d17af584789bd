/** What edges elsewhere have counted since this server asked them first; what they counted before is another server's. */
import { answersSince, answersTogether } from '../../lib/answer-counts.ts';
import { NO_TRAFFIC } from '../routes/counted-apps.ts';
import type { AppTraffic } from '../routes/router.ts';

/** Of edges that are gone, in case they come back. */
const MOST_KEPT = 1_000;

export class EdgeCounts {
  /** By app. */
  readonly #sums = new Map<string, AppTraffic>();
  /** By edge and app, as it has reported last. */
  readonly #reported = new Map<string, Map<string, AppTraffic>>();

  of(app: string): AppTraffic {
    return this.#sums.get(app) ?? NO_TRAFFIC;
  }

  /** `edge`: its instance. */
  report(edge: string, app: string, counted: AppTraffic): void {
    const reported = this.#reported.get(edge) ?? new Map<string, AppTraffic>();
    this.#reported.delete(edge);
    this.#reported.set(edge, reported);
    for (const oldest of this.#reported.keys()) {
      if (this.#reported.size <= MOST_KEPT) break;
      this.#reported.delete(oldest);
    }
    const before = reported.get(app);
    reported.set(app, counted);
    if (before !== undefined) this.#sums.set(app, together(this.of(app), since(before, counted)));
  }

  /** Apps that there are no more. */
  keepOnly(apps: ReadonlySet<string>): void {
    for (const counts of [this.#sums, ...this.#reported.values()])
      for (const app of counts.keys()) if (!apps.has(app)) counts.delete(app);
  }
}

/** One that was started again counts from nothing. */
function since(before: AppTraffic, after: AppTraffic): AppTraffic {
  if (after.requests < before.requests || after.failures < before.failures) return after;
  return {
    requests: after.requests - before.requests,
    failures: after.failures - before.failures,
    answers: answersSince(before.answers, after.answers),
  };
}

export function together(one: AppTraffic, other: AppTraffic): AppTraffic {
  return {
    requests: one.requests + other.requests,
    failures: one.failures + other.failures,
    answers: answersTogether(one.answers, other.answers),
  };
}
