/** `npm run bench`: every number the project publishes, measured here and now. */
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { Bench, type Measure } from './bench.ts';
import { measuredCommit } from './commit.ts';
import { api } from './measures/api.ts';
import { apps } from './measures/apps.ts';
import { audit } from './measures/audit.ts';
import { clusterApps } from './measures/cluster-apps.ts';
import { dashboard } from './measures/dashboard.ts';
import { edge } from './measures/edge.ts';
import { express } from './measures/express.ts';
import { https } from './measures/https.ts';
import { idle } from './measures/idle.ts';
import { kubernetes } from './measures/kubernetes.ts';
import { logBeside, logReading, logWriting } from './measures/logs.ts';
import { neighbours } from './measures/neighbours.ts';
import { networks } from './measures/networks.ts';
import { nginx } from './measures/nginx.ts';
import { packages } from './measures/packages.ts';
import { push } from './measures/push.ts';
import { routes } from './measures/routes.ts';
import { start } from './measures/start.ts';
import { tls } from './measures/tls.ts';
import { manyUnits, units } from './measures/units.ts';
import { demandPlace, placeOf, publishIn } from './published.ts';
import { type Row, rowOf, table } from './report.ts';

const MEASURES: readonly Measure[] = [
  ...[start, push, express, idle, api, dashboard, edge, nginx, tls, routes, https],
  ...[networks, neighbours, ...packages, logWriting, logReading, logBeside, units, manyUnits, apps, audit, kubernetes],
  clusterApps,
];
const WHOLE_RUN_MS = 240_000;
/** A measure that has used its share begins no further rounds; the rest is for closing. */
const SHARE_MS = 20_000;
const PAGE = 'docs/performance.md';
const USAGE = `Usage: npm run bench -- [--only name]... [--json] [--write] [--list]

${MEASURES.map(({ name, about, longMs }) => `  ${name.padEnd(12)} ${about}${longMs === undefined ? '' : ' (only where it is named)'}`).join('\n')}

--write puts the table into ${PAGE}.`;

interface Options {
  readonly measures: readonly Measure[];
  /** As they were named; empty: none was. */
  readonly asked: readonly string[];
  readonly json: boolean;
  readonly write: boolean;
}

function readOptions(): Options | null {
  const options = {
    only: { type: 'string', multiple: true },
    json: { type: 'boolean' },
    write: { type: 'boolean' },
    list: { type: 'boolean' },
  } as const;
  const { values } = parseArgs({ options });
  if (values.list === true) return null;
  const wanted = values.only?.flatMap((names) => names.split(','));
  const unknown = wanted?.find((name) => !MEASURES.some((measure) => isNamed(measure, name)));
  if (unknown !== undefined) throw new Error(`There is no measure "${unknown}".\n\n${USAGE}`);
  const measures = MEASURES.filter(
    (measure) => wanted?.some((name) => isNamed(measure, name)) ?? measure.longMs === undefined,
  );
  return { measures, asked: wanted ?? [], json: values.json ?? false, write: values.write ?? false };
}

/** `logs` names `logs-writing` and `logs-reading`. */
function isNamed({ name }: Measure, wanted: string): boolean {
  return name === wanted || name.startsWith(`${wanted}-`);
}

async function measureAll(options: Options, stop: AbortSignal): Promise<{ rows: Row[]; failures: string[] }> {
  const rows: Row[] = [];
  const failures: string[] = [];
  const stopped = new Promise<never>((_, reject) => {
    stop.addEventListener('abort', () => reject(stop.reason as Error));
  });
  stopped.catch(() => {});
  for (const measure of options.measures) {
    if (stop.aborted) break;
    process.stderr.write(`Measuring ${measure.name} ...\n`);
    const note = (text: string): void => void process.stderr.write(`  ${text}\n`);
    const bench = new Bench((figure) => rows.push(rowOf(measure.name, figure)), note);
    bench.limitTo(measure.longMs ?? SHARE_MS);
    try {
      await Promise.race([measure.run(bench), stopped]);
    } catch (error) {
      failures.push(`${measure.name}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      await bench.close();
    }
  }
  return { rows, failures };
}

function stopSignal(measures: readonly Measure[]): AbortSignal {
  const stop = new AbortController();
  const wholeMs = measures.reduce((ms, { longMs = 0 }) => ms + longMs, WHOLE_RUN_MS);
  const late = setTimeout(() => stop.abort(new Error(`not done after ${wholeMs / 1000} s`)), wholeMs);
  late.unref();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => stop.abort(new Error(`ended by ${signal}`)));
  }
  return stop.signal;
}

/** And the commit. With the load it had before: on a busy machine only the ratios mean something. */
async function describeMachine(): Promise<string> {
  const commit = await measuredCommit(import.meta.dirname);
  const processors = `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown processor'}`;
  const load = `load average ${loadavg()[0]?.toFixed(1)} before the run`;
  return [processors, `Node ${process.version}`, ...(commit === null ? [] : [`commit ${commit}`]), load].join(', ');
}

async function main(): Promise<number> {
  const options = readOptions();
  if (options === null) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const place = placeOf(options.asked);
  if (options.write) await demandPlace(PAGE, place);
  const machine = await describeMachine();
  const { rows, failures } = await measureAll(options, stopSignal(options.measures));
  const text = `${machine}\n\n${table(rows)}`;
  if (options.json) process.stdout.write(`${JSON.stringify({ machine, rows, failures }, null, 2)}\n`);
  else if (rows.length > 0) process.stdout.write(`${text}\n`);
  if (options.write && failures.length === 0) await publishIn(PAGE, text, place);
  for (const failure of failures) process.stderr.write(`Not measured: ${failure}\n`);
  return failures.length === 0 ? 0 : 1;
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});
