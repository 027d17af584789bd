import type { Command } from 'commander';
import type { AppMetrics } from '../../client/shapes.ts';
import type { Cli } from '../cli.ts';
import { appName } from '../git.ts';
import { printable, table, when } from '../output.ts';
import { APP_OPTION } from './app-option.ts';
import { sparkline, squeezed } from './sparkline.ts';

const COLUMNS = 40;

type Point = AppMetrics['points'][number];
type Field = Exclude<keyof Point, 'at'>;

interface Series {
  readonly title: string;
  readonly field: Field;
  /** What becomes of several steps that share a column. */
  readonly by: 'mean' | 'sum' | 'most';
  show(value: number): string;
}

const whole = (value: number): string => String(Math.round(value));
const milliseconds = (value: number): string => `${value < 10 ? value.toFixed(1) : whole(value)} ms`;
const mebibytes = (value: number): string => `${(value / 1024 ** 2).toFixed(1)} MiB`;

const SERIES: readonly Series[] = [
  { title: 'processor', field: 'cpuMillis', by: 'mean', show: (value) => `${(value / 10).toFixed(1)} %` },
  { title: 'memory', field: 'memoryBytes', by: 'mean', show: mebibytes },
  { title: 'units', field: 'units', by: 'mean', show: whole },
  { title: 'requests', field: 'requests', by: 'sum', show: whole },
  { title: 'failed', field: 'failures', by: 'sum', show: whole },
  { title: '4xx', field: 'status4xx', by: 'sum', show: whole },
  { title: '5xx', field: 'status5xx', by: 'sum', show: whole },
  { title: 'half within', field: 'p50Ms', by: 'most', show: milliseconds },
  { title: '95 % within', field: 'p95Ms', by: 'most', show: milliseconds },
  { title: '99 % within', field: 'p99Ms', by: 'most', show: milliseconds },
  { title: 'restarts', field: 'restarts', by: 'sum', show: whole },
  { title: 'log lines', field: 'logLines', by: 'sum', show: whole },
];

export function registerMetrics(app: Command, cli: Cli): void {
  app
    .command('metrics')
    .description('Show what an app used over time, and the requests to it')
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .option('--since <time>', 'from then on: 10m, 2h, 2d ago, or 2026-03-04T05:06:07Z', '1h')
    .addHelpText(
      'after',
      '\nThe processor in percent of one; requests, restarts and lines of the log are counted per column. An answer is timed from\nthe head of its request to its own.',
    )
    .action(async (named: string | undefined, options: { app?: string; since: string }) => {
      const name = await appName(cli, options.app ?? named);
      const client = await cli.client();
      const metrics = await cli.during('Asking', () => client.apps.metrics(name, { since: options.since }));
      cli.show(metrics, () => describe(metrics));
    });
}

function describe({ app, points, stepSeconds }: AppMetrics): string {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) return `Nothing is known of ${printable(app)} for that time.`;
  const rows = SERIES.map(({ title, field, by, show }) => {
    const values = squeezed(
      points.map((point) => point[field]),
      COLUMNS,
      by,
    );
    return [title, sparkline(values), show(values.at(-1) ?? 0), show(Math.max(...values))];
  });
  const span = `${when(first.at)} to ${when(last.at)}, measured every ${stepSeconds} seconds`;
  return `${table(['', span, 'NOW', 'MOST'], rows)}`;
}
