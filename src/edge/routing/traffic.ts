import type { CountedApps } from '../../domain/routes/counted-apps.ts';
import type { AppTraffic } from '../../domain/routes/router.ts';
import type { LiveCounts } from '../live-counts.ts';
import { type AnswerCounts, bucketOf, NO_ANSWERS } from '../../lib/answer-counts.ts';

/** What one process has counted of one app, in numbers that can be sent to another. */
export interface AppCount extends AppTraffic {
  readonly app: string;
  /** Requests that have begun and not ended; when the process dies, they have failed. */
  readonly open: number;
  /** Of those, the ones without the head of an answer. */
  readonly unanswered: number;
}

/** A report may be so late; what a worker has under way is known at once (live-counts.ts). */
const REPORT_MS = 5;

/** Counts the requests of one app. */
export class AppCounter {
  readonly app: string;
  requests = 0;
  failures = 0;
  open = 0;
  /** Of those that are open, the ones that nobody has answered. */
  unanswered = 0;
  readonly #classes = [...NO_ANSWERS.classes];
  readonly #times = [...NO_ANSWERS.times];
  #timeMs = 0;
  readonly #onChange: (counter: AppCounter) => void;
  readonly #live: () => LiveCounts | null;
  /** Where it is among the live counts; null before its first request. */
  #slot: number | null = null;
  #isLeft = false;

  constructor(app: string, onChange: (counter: AppCounter) => void, live: () => LiveCounts | null) {
    this.app = app;
    this.#onChange = onChange;
    this.#live = live;
  }

  begun(): void {
    this.open++;
    this.unanswered++;
    this.#writeLive();
    this.#onChange(this);
  }

  ended(wasAnswered: boolean): void {
    this.open--;
    if (!wasAnswered) this.unanswered--;
    this.#writeLive();
    this.#onChange(this);
  }

  /** The app has left the table; what it has under way still counts. */
  leave(): void {
    this.#isLeft = true;
    this.#endLive();
  }

  #writeLive(): void {
    const live = this.#live();
    if (live === null) return;
    this.#slot ??= live.begin(this.app);
    live.write(this.#slot, this);
    this.#endLive();
  }

  #endLive(): void {
    if (!this.#isLeft || this.open > 0 || this.#slot === null) return;
    this.#live()?.end(this.#slot);
    this.#slot = null;
  }

  /** `ms`: from the head of the request to that of the answer; `wasWaiting`: it is one of those that are open. */
  answered(status: number, ms: number, wasWaiting: boolean): void {
    this.requests++;
    if (wasWaiting) this.unanswered--;
    const [at, bucket] = [Math.floor(status / 100) - 1, bucketOf(ms)];
    this.#classes[at] = (this.#classes[at] ?? 0) + 1;
    this.#times[bucket] = (this.#times[bucket] ?? 0) + 1;
    this.#timeMs += ms;
    this.#onChange(this);
  }

  failed(): void {
    this.failures++;
    this.#onChange(this);
  }

  /** As they are now. */
  get answers(): AnswerCounts {
    return { classes: [...this.#classes], times: [...this.#times], timeMs: this.#timeMs };
  }
}

/** Counters per app, for the apps of the table only. */
export class Traffic {
  readonly #apps = new Map<string, AppCounter>();
  readonly #changed = new Set<AppCounter>();
  #report: ((counts: readonly AppCount[]) => void) | null = null;
  #live: LiveCounts | null = null;
  #timer: NodeJS.Timeout | null = null;

  counter(app: string): AppCounter {
    const known = this.#apps.get(app);
    if (known !== undefined) return known;
    const counter = new AppCounter(
      app,
      (changed) => this.#noteChange(changed),
      () => this.#live,
    );
    this.#apps.set(app, counter);
    return counter;
  }

  of(app: string): AppTraffic {
    if (this.#timer !== null) this.#send();
    const counter = this.#apps.get(app);
    const { requests = 0, failures = 0, answers = NO_ANSWERS } = counter ?? {};
    return { requests, failures, answers };
  }

  all(): CountedApps {
    if (this.#timer !== null) this.#send();
    const counted = [...this.#apps].filter(([, { requests, failures }]) => requests > 0 || failures > 0);
    return counted.map(([app, { requests, failures, answers }]) => [app, { requests, failures, answers }]);
  }

  keepOnly(apps: ReadonlySet<string>): void {
    for (const [app, counter] of this.#apps) {
      if (apps.has(app)) continue;
      this.#apps.delete(app);
      counter.leave();
    }
  }

  /** From now on reports what has changed, soon after it has. */
  reportTo(report: (counts: readonly AppCount[]) => void, live: LiveCounts | null): void {
    this.#report = report;
    this.#live = live;
  }

  #noteChange(counter: AppCounter): void {
    if (this.#report === null) return;
    this.#changed.add(counter);
    this.#timer ??= setTimeout(() => this.#send(), REPORT_MS);
  }

  #send(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const counts = [...this.#changed].map(({ app, requests, failures, open, unanswered, answers }) => ({
      ...{ app, requests, failures, open, unanswered, answers },
    }));
    this.#changed.clear();
    this.#report?.(counts);
  }
}
