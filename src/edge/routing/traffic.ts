import type { AppTraffic } from '../../domain/routes/router.ts';
import { type AnswerCounts, bucketOf, NO_ANSWERS } from '../../lib/answer-counts.ts';

/** What one process has counted of one app, in numbers that can be sent to another. */
export interface AppCount extends AppTraffic {
  readonly app: string;
  /** Requests that have begun and not ended; when the process dies, they have failed. */
  readonly open: number;
}

/** A report may be so late. */
const REPORT_MS = 5;

/** Counts the requests of one app. */
export class AppCounter {
  readonly app: string;
  requests = 0;
  failures = 0;
  open = 0;
  readonly #classes = [...NO_ANSWERS.classes];
  readonly #times = [...NO_ANSWERS.times];
  #timeMs = 0;
  readonly #onChange: (counter: AppCounter) => void;

  constructor(app: string, onChange: (counter: AppCounter) => void) {
    this.app = app;
    this.#onChange = onChange;
  }

  begun(): void {
    this.open++;
    this.#onChange(this);
  }

  ended(): void {
    this.open--;
    this.#onChange(this);
  }

  /** `ms`: from the head of the request to that of the answer. */
  answered(status: number, ms: number): void {
    this.requests++;
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
  #timer: NodeJS.Timeout | null = null;

  counter(app: string): AppCounter {
    const known = this.#apps.get(app);
    if (known !== undefined) return known;
    const counter = new AppCounter(app, (changed) => this.#noteChange(changed));
    this.#apps.set(app, counter);
    return counter;
  }

  of(app: string): AppTraffic {
    if (this.#timer !== null) this.#send();
    const counter = this.#apps.get(app);
    const { requests = 0, failures = 0, answers = NO_ANSWERS } = counter ?? {};
    return { requests, failures, answers };
  }

  keepOnly(apps: ReadonlySet<string>): void {
    for (const app of this.#apps.keys()) if (!apps.has(app)) this.#apps.delete(app);
  }

  /** From now on tells what has changed, soon after it has. */
  reportTo(report: (counts: readonly AppCount[]) => void): void {
    this.#report = report;
  }

  #noteChange(counter: AppCounter): void {
    if (this.#report === null) return;
    this.#changed.add(counter);
    this.#timer ??= setTimeout(() => this.#send(), REPORT_MS);
  }

  #send(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const counts = [...this.#changed].map(({ app, requests, failures, open, answers }) => ({
      ...{ app, requests, failures, open, answers },
    }));
    this.#changed.clear();
    this.#report?.(counts);
  }
}
