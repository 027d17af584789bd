/** What the platform itself has done since it began: counted where it happens, in the text format of Prometheus. */
import { ANSWER_BOUNDS_MS, bucketOf } from '../../lib/answer-counts.ts';
import type { Deploy, DeployState } from '../deploys/deploy.ts';

class Histogram {
  readonly #counts = new Float64Array(ANSWER_BOUNDS_MS.length + 1);
  #sumMs = 0;

  add(ms: number): void {
    const bucket = bucketOf(ms);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sumMs += ms;
  }

  lines(name: string, labels: string): string[] {
    let sum = 0;
    const buckets = [...this.#counts].map((count, at) => {
      sum += count;
      const bound = ANSWER_BOUNDS_MS[at];
      const le = `le="${bound === undefined ? '+Inf' : bound / 1000}"`;
      return `${name}_bucket{${labels === '' ? le : `${labels},${le}`}} ${sum}`;
    });
    const own = labels === '' ? '' : `{${labels}}`;
    return [...buckets, `${name}_sum${own} ${this.#sumMs / 1000}`, `${name}_count${own} ${sum}`];
  }
}

export class PlatformCounters {
  readonly #api = new Map<string, Histogram>();
  readonly #answers = new Map<string, number>();
  readonly #deploys = new Map<string, number>();
  readonly #steps = new Map<DeployState, Histogram>();
  readonly #commits = new Histogram();

  /** `operation`: one of those that are published, so the number of series is bounded. */
  apiAnswered(operation: string, status: number, ms: number): void {
    const histogram = this.#api.get(operation) ?? new Histogram();
    this.#api.set(operation, histogram);
    histogram.add(ms);
    count(this.#answers, `class="${Math.floor(status / 100)}xx"`);
  }

  /** `cause`: null where there is none. */
  deployEnded(state: 'done' | 'failed' | 'cancelled', cause: Deploy['cause'], phases: Deploy['phases']): void {
    count(this.#deploys, `state="${state}",cause="${cause ?? ''}"`);
    for (const [step, ms] of Object.entries(phases) as [DeployState, number][]) {
      const histogram = this.#steps.get(step) ?? new Histogram();
      this.#steps.set(step, histogram);
      histogram.add(ms);
    }
  }

  /** A transaction of the store, its wait for its turn included. */
  committed(ms: number): void {
    this.#commits.add(ms);
  }

  text(): string {
    const [api, steps, commits] = [
      'tancho_api_seconds',
      'tancho_deploy_step_seconds',
      'tancho_store_transaction_seconds',
    ];
    const lines = [
      ...head(api, 'histogram', 'From a request to the API to the end of its answer, by operation.'),
      ...[...this.#api].flatMap(([operation, histogram]) => histogram.lines(api, `operation="${operation}"`)),
      ...head('tancho_api_answers_total', 'counter', 'Answers of the API by the class of their status.'),
      ...[...this.#answers].map(([labels, number]) => `tancho_api_answers_total{${labels}} ${number}`),
      ...head('tancho_deploys_total', 'counter', 'Deploys that ended, and why those that failed did.'),
      ...[...this.#deploys].map(([labels, number]) => `tancho_deploys_total{${labels}} ${number}`),
      ...head(steps, 'histogram', 'How long each step of a deploy took.'),
      ...[...this.#steps].flatMap(([step, histogram]) => histogram.lines(steps, `step="${step}"`)),
      ...head(commits, 'histogram', 'Transactions of the store, with the wait for their turn.'),
      ...this.#commits.lines(commits, ''),
    ];
    return `${lines.join('\n')}\n`;
  }
}

function head(name: string, type: 'counter' | 'histogram', help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function count(all: Map<string, number>, labels: string): void {
  all.set(labels, (all.get(labels) ?? 0) + 1);
}
