import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { table, when } from '../output.ts';

export function registerHealer(healer: Command, cli: Cli): void {
  healer
    .command('list')
    .description('List the healers')
    .action(async () => {
      const client = await cli.client();
      const healers = await cli.during('Asking', () => client.healers.list());
      const rows = healers.flatMap((one) => Object.entries(one).map(([name, address]) => [name, address]));
      cli.show(healers, () => table(['NAME', 'ADDRESS'], rows));
    });
  healer
    .command('recent')
    .description('Show what healers did lately (admins)')
    .action(async () => {
      const client = await cli.client();
      const healings = await cli.during('Asking', () => client.healers.recent());
      const rows = healings.map((one) => [
        when(one.EndTime),
        one.Action,
        one.Successful ? 'healed' : one.Error,
        one.Reason,
      ]);
      const nothing = 'No healer had anything to do.';
      cli.show(healings, () => (rows.length === 0 ? nothing : table(['TIME', 'HEALER', 'RESULT', 'WHY'], rows)));
    });
  healer
    .command('run')
    .description('Let a healer look and put in order what it finds about your apps')
    .argument('<healer>', 'name of the healer')
    .action(async (name: string) => {
      const client = await cli.client();
      const report = await cli.during(`Running the healer ${name}`, () => client.healers.run(name));
      const rows = report.found.map((one) => [one.target, one.outcome, `${one.problem} ${one.action}`]);
      const nothing = report.answer ?? 'All is in order, there was nothing to do.';
      cli.show(report, () => (rows.length === 0 ? nothing : table(['WHAT', 'OUTCOME', ''], rows)));
    });
}
