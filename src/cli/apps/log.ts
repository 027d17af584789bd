import type { Command } from 'commander';
import type { LogEntry } from '../../client/shapes.ts';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { appName } from '../git.ts';
import { printable, printableOutput, when } from '../output.ts';
import { APP_OPTION } from './app-option.ts';

interface LogOptions {
  readonly app?: string;
  readonly lines: string;
  readonly follow?: boolean;
  readonly source?: string;
  readonly unit?: string;
}

export function registerLog(app: Command, cli: Cli): void {
  app
    .command('log')
    .description('Show the log of an app')
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .option('-n, --lines <count>', 'how many entries, 0 for all', '100')
    .option('-f, --follow', 'go on with new entries until interrupted')
    .option('--source <name>', 'only of this source: a process, "tancho", "release" or "hook"')
    .option('--unit <unit>', 'only of this unit')
    .addHelpText('after', '\nWith --follow, --json prints one entry per line.')
    .action((named: string | undefined, options: LogOptions) => log(cli, named, options));
}

async function log(cli: Cli, named: string | undefined, options: LogOptions): Promise<void> {
  const lines = Number(options.lines);
  if (!/^[0-9]{1,9}$/.test(options.lines)) throw new UsageError('--lines must be a whole number from 0 on.');
  const name = await appName(cli, options.app ?? named);
  const { source, unit } = options;
  const query = { lines, ...(source === undefined ? {} : { source }), ...(unit === undefined ? {} : { unit }) };
  const client = await cli.client();
  if (options.follow !== true) {
    const entries = await cli.during('Asking', () => client.apps.log(name, query));
    if (cli.options.json === true) cli.print(JSON.stringify(entries, null, 2));
    else for (const entry of entries) cli.print(text(cli, entry));
    return;
  }
  for await (const batch of client.apps.followLog(name, query, cli.context.signal)) {
    for (const entry of batch) cli.print(cli.options.json === true ? JSON.stringify(entry) : text(cli, entry));
  }
}

function text(cli: Cli, entry: LogEntry): string {
  const place = [entry.Source, entry.Unit].filter((part) => part !== '').map((part) => `[${part}]`);
  const head = printable(`${when(entry.Date)} ${place.join('')}:`);
  return `${cli.paint('cyan', head)} ${printableOutput(entry.Message)}`;
}
