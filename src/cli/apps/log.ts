import type { Command } from 'commander';
import type { Client } from '../../client/client.ts';
import type { LogEntry, LogQuery } from '../../client/shapes.ts';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { appName } from '../git.ts';
import { printable, printableOutput, type Style, when } from '../output.ts';
import { APP_OPTION } from './app-option.ts';
import { followLog } from './follow-log.ts';

interface LogOptions {
  readonly app?: readonly string[];
  readonly lines: string;
  readonly follow?: boolean;
  readonly source?: string;
  readonly unit?: string;
  readonly process?: string;
  readonly since?: string;
  readonly until?: string;
  readonly deploy?: string;
  readonly search?: string;
  readonly regexp?: boolean;
  readonly before?: string;
}

/** The cursor before the first entry. */
const BEGINNING = 'c0';
/** Each unit has one of them, which distinguishes its lines from those of others. */
const UNIT_STYLES: readonly Style[] = ['cyan', 'green', 'yellow', 'magenta', 'blue'];

export function registerLog(app: Command, cli: Cli): void {
  app
    .command('log')
    .description('Show the log of an app, or of several')
    .argument('[app]', APP_OPTION[1])
    .option(APP_OPTION[0], 'the app, or one of several (default: that of the git remote "tancho")', collected)
    .option('-n, --lines <count>', 'how many entries of each app, at most 10000, 0 for all', '100')
    .option('-f, --follow', 'go on with new entries until interrupted')
    .option('--since <time>', 'only from then on: 10m, 2h, 7d ago, or 2026-03-04T05:06:07Z')
    .option('--until <time>', 'only before then')
    .option('--search <text>', 'only entries with this text, in any case')
    .option('--regexp', 'the text is a regular expression (of RE2)')
    .option('--before <cursor>', 'only entries before that one; a search that has stopped names it')
    .option('--process <process>', 'only what units of this process printed')
    .option('--deploy <id>', 'only what units printed that ran the code of this deploy')
    .option('--source <name>', 'only of this source: a process, "tancho", "release" or "hook"')
    .option('--unit <unit>', 'only of this unit')
    .addHelpText(
      'after',
      '\nWith --follow, --json prints one entry per line; after a lost connection it goes on where it was.',
    )
    .action((named: string | undefined, options: LogOptions) => log(cli, named, options));
}

function collected(app: string, before: readonly string[] = []): readonly string[] {
  return [...before, app];
}

async function log(cli: Cli, named: string | undefined, options: LogOptions): Promise<void> {
  const { app = [], follow = false, lines, ...filter } = options;
  if (!/^[0-9]{1,9}$/.test(lines)) throw new UsageError('--lines must be a whole number from 0 on.');
  if (filter.regexp === true && filter.search === undefined) throw new UsageError('--regexp goes with --search.');
  if (follow && filter.until !== undefined) throw new UsageError('--until does not go with --follow.');
  if (follow && filter.before !== undefined) throw new UsageError('--before does not go with --follow.');
  const given = [...new Set(named === undefined ? app : [named, ...app])];
  const apps = given.length === 0 ? [await appName(cli, undefined)] : given;
  const query = { lines: Number(lines), ...filter };
  const show = (entry: LogEntry): string => text(cli, entry, apps.length > 1);
  if (follow) return followAll(cli, apps, query, show);
  const client = await cli.client();
  const logs = await cli.during('Asking', () => Promise.all(apps.map((name) => entriesOf(client, name, query))));
  // Of several apps in the order of time; what one app said at the same time stays in its order.
  const entries =
    apps.length === 1 ? logs.flat() : logs.flat().sort((a, b) => (a.Date < b.Date ? -1 : a.Date > b.Date ? 1 : 0));
  if (cli.options.json === true) cli.print(JSON.stringify(entries, null, 2));
  else for (const entry of entries) cli.print(show(entry));
}

/** All there are come in pages, from the oldest on. */
async function entriesOf(client: Client, app: string, query: LogQuery): Promise<readonly LogEntry[]> {
  if (query.lines > 0) return client.apps.log(app, query);
  const entries: LogEntry[] = [];
  for (let after = BEGINNING; ;) {
    const page = await client.apps.log(app, { ...query, after });
    const last = page.at(-1);
    if (last === undefined || last.Cursor === after) return entries;
    for (const entry of page) entries.push(entry);
    after = last.Cursor;
  }
}

/** The first error of one ends all. */
async function followAll(
  cli: Cli,
  apps: readonly string[],
  query: LogQuery,
  show: (entry: LogEntry) => string,
): Promise<void> {
  const client = await cli.client();
  const failed = new AbortController();
  const signal = AbortSignal.any([cli.context.signal, failed.signal]);
  const follow = async (app: string): Promise<void> => {
    const onLost = (why: string): void => cli.warn(`The log of ${app} was cut off, going on. ${why}`.trim());
    for await (const batch of followLog(client, app, query, { signal, onLost })) {
      for (const entry of batch) cli.print(cli.options.json === true ? JSON.stringify(entry) : show(entry));
    }
  };
  try {
    await Promise.all(apps.map(follow));
  } finally {
    failed.abort();
  }
}

function text(cli: Cli, entry: LogEntry, isOneOfSeveral: boolean): string {
  const names = [isOneOfSeveral ? entry.AppName : '', entry.Source, entry.Unit];
  const place = names.filter((part) => part !== '').map((part) => `[${part}]`);
  const head = printable(`${when(entry.Date)} ${place.join('')}:`);
  return `${cli.paint(styleOf(entry.Unit), head)} ${printableOutput(entry.Message)}`;
}

/** Units of an app are numbered, so neighbours differ. */
function styleOf(unit: string): Style {
  const number = Number(/\/(\d+)$/.exec(unit)?.[1] ?? 0);
  return UNIT_STYLES[number % UNIT_STYLES.length] ?? 'cyan';
}
