import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { table, when } from '../output.ts';

interface ListOptions {
  readonly app?: string;
  readonly by?: string;
  readonly failed?: boolean;
  readonly count: string;
}

export function registerEvent(event: Command, cli: Cli): void {
  event
    .command('list')
    .description('Show who did what, and who was refused what, newest first')
    .option('-a, --app <app>', 'only what concerns this app')
    .option('--by <email>', 'only of this user')
    .option('--failed', 'only what failed or was refused')
    .option('-n, --count <count>', 'how many, at most 100', '30')
    .action(async (options: ListOptions) => {
      if (!/^[0-9]{1,3}$/.test(options.count)) throw new UsageError('--count must be a whole number from 0 to 100.');
      const client = await cli.client();
      const { app, by, failed, count } = options;
      const filter = { app, by, failed, limit: Number(count) };
      const events = await cli.during('Asking', () => client.events.list(filter));
      const rows = events.map((one) => [
        when(one.StartTime),
        one.Owner.Name,
        one.Kind.Name,
        [one.Target.Type, one.Target.Value].filter((part) => part !== '').join(' '),
        one.Running ? 'under way' : one.Refused ? `refused: ${one.Error}` : one.Error === '' ? 'done' : one.Error,
        one.SourceIP,
      ]);
      const head = ['TIME', 'WHO', 'WHAT', 'ON', 'RESULT', 'FROM'];
      cli.show(events, () => (rows.length === 0 ? 'Nothing of that kind is recorded.' : table(head, rows)));
    });
}
