import type { AppTraffic } from '../domain/routes/router.ts';
import { answersTogether, NO_ANSWERS } from '../lib/answer-counts.ts';
import type { LiveCount } from './live-counts.ts';
import type { CountedApps } from '../domain/routes/counted-apps.ts';
import type { AppCount } from './routing/traffic.ts';

export const NO_TRAFFIC: AppTraffic = { requests: 0, failures: 0, answers: NO_ANSWERS };

/** What workers have counted, so that nothing of it is lost with them: what was open in one that is gone has failed. */
export class WorkerCounts<W> {
  readonly #reported = new Map<W, Map<string, AppCount>>();
  readonly #ofTheGone = new Map<string, AppTraffic>();

  update(worker: W, counts: readonly AppCount[]): void {
    const known = this.#reported.get(worker) ?? new Map<string, AppCount>();
    for (const count of counts) known.set(count.app, count);
    this.#reported.set(worker, known);
  }

  /** The worker is gone; nothing more will come of it. `live`: what it had under way, newer than what it has reported. */
  gone(worker: W, live: ReadonlyMap<string, LiveCount>): void {
    for (const [app, counted] of this.allAsGone(worker, live))
      this.#ofTheGone.set(app, sum(this.ofTheGone(app), counted));
    this.#reported.delete(worker);
  }

  /** What a worker that does not answer any more has counted. */
  asGone(worker: W, app: string, live: ReadonlyMap<string, LiveCount>): AppTraffic {
    const reported = this.#reported.get(worker)?.get(app);
    const count = live.get(app) ?? reported;
    if (count === undefined) return NO_TRAFFIC;
    const { requests, unanswered, failures, open } = count;
    const answers = reported?.answers ?? NO_ANSWERS;
    return { requests: requests + unanswered, failures: failures + open, answers };
  }

  allAsGone(worker: W, live: ReadonlyMap<string, LiveCount>): CountedApps {
    const apps = new Set([...(this.#reported.get(worker)?.keys() ?? []), ...live.keys()]);
    return [...apps].map((app) => [app, this.asGone(worker, app, live)]);
  }

  get allOfTheGone(): CountedApps {
    return [...this.#ofTheGone];
  }

  /** Of all workers that are gone. */
  ofTheGone(app: string): AppTraffic {
    return this.#ofTheGone.get(app) ?? NO_TRAFFIC;
  }
}

/** Of several who count the same apps. */
export function sumOfAll(counted: readonly CountedApps[]): CountedApps {
  const all = new Map<string, AppTraffic>();
  for (const [app, traffic] of counted.flat()) all.set(app, sum(all.get(app) ?? NO_TRAFFIC, traffic));
  return [...all];
}

export function sum(left: AppTraffic, right: AppTraffic): AppTraffic {
  return {
    requests: left.requests + right.requests,
    failures: left.failures + right.failures,
    answers: answersTogether(left.answers, right.answers),
  };
}
