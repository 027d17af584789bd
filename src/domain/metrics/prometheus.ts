/** Pure: what is known of all apps in the text format of Prometheus (exposition format 0.0.4). */
import { ANSWER_BOUNDS_MS, answersCounted } from '../../lib/answer-counts.ts';
import type { AppSeries, Totals } from './app-series.ts';
import type { Sample } from './level.ts';

interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  value(sample: Sample, totals: Totals): number;
}

const FAMILIES: readonly Family[] = [
  {
    name: 'tancho_app_cpu_seconds_total',
    type: 'counter',
    help: 'Processor time that the units of the app have used.',
    value: (_, { cpuMs }) => cpuMs / 1000,
  },
  {
    name: 'tancho_app_memory_bytes',
    type: 'gauge',
    help: 'Memory that the units of the app have for themselves.',
    value: ({ memoryBytes }) => memoryBytes,
  },
  { name: 'tancho_app_units', type: 'gauge', help: 'Units that are started.', value: ({ units }) => units },
  {
    name: 'tancho_app_restarts_total',
    type: 'counter',
    help: 'Deaths of units.',
    value: (_, { restarts }) => restarts,
  },
  {
    name: 'tancho_app_requests_total',
    type: 'counter',
    help: 'Requests that were answered, by the app or for it.',
    value: (_, { requests }) => requests,
  },
  {
    name: 'tancho_app_failed_requests_total',
    type: 'counter',
    help: 'Requests that the edge had to fail.',
    value: (_, { failures }) => failures,
  },
];

/** With a label of its own; the others are summed up under none, so that the number of series is bounded. */
const MOST_APPS = 1_000;

export function prometheusText(apps: ReadonlyMap<string, Pick<AppSeries, 'latest' | 'totals'>>): string {
  const known = [...apps].flatMap(([app, { latest, totals }]) => (latest === null ? [] : [{ app, latest, totals }]));
  const lines: string[] = [];
  for (const { name, type, help, value } of FAMILIES) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    // The names of apps hold nothing that would have to be escaped.
    for (const { app, latest, totals } of known.slice(0, MOST_APPS)) {
      lines.push(`${name}{app="${app}"} ${value(latest, totals)}`);
    }
    const others = known.slice(MOST_APPS);
    if (others.length === 0) continue;
    lines.push(`${name}{app=""} ${others.reduce((sum, { latest, totals }) => sum + value(latest, totals), 0)}`);
  }
  // Beyond those with a label of their own none: each has some twenty series.
  lines.push(...answerLines(known.slice(0, MOST_APPS)));
  return `${lines.join('\n')}\n`;
}

/** Of apps that have answered something. */
function answerLines(apps: readonly { readonly app: string; readonly totals: Totals }[]): string[] {
  const answered = apps.filter(({ totals }) => answersCounted(totals.answers) > 0);
  const [statuses, times] = ['tancho_app_answers_total', 'tancho_app_answer_seconds'];
  const lines = [`# HELP ${statuses} Answers by the class of their status.`, `# TYPE ${statuses} counter`];
  for (const { app, totals } of answered) {
    for (const [at, count] of totals.answers.classes.entries()) {
      lines.push(`${statuses}{app="${app}",class="${at + 1}xx"} ${count}`);
    }
  }
  lines.push(
    `# HELP ${times} From the head of a request to that of its answer.`,
    `# TYPE ${times} histogram`,
    ...answered.flatMap(({ app, totals }) => histogramLines(times, app, totals)),
  );
  return lines;
}

function histogramLines(name: string, app: string, { answers }: Totals): string[] {
  let sum = 0;
  const buckets = answers.times.map((count, at) => {
    sum += count;
    const bound = ANSWER_BOUNDS_MS[at];
    return `${name}_bucket{app="${app}",le="${bound === undefined ? '+Inf' : bound / 1000}"} ${sum}`;
  });
  return [...buckets, `${name}_sum{app="${app}"} ${answers.timeMs / 1000}`, `${name}_count{app="${app}"} ${sum}`];
}
