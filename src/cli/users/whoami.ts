import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { facts } from '../output.ts';

export function registerWhoami(command: Command, cli: Cli): void {
  command.action(async () => {
    const { client, url, via } = await cli.chosen();
    const { Email: email, Teams: teams } = await cli.during('Asking', () => client.users.info());
    const target = via === 'socket' ? `this machine (${cli.context.home})` : url;
    cli.show({ email, teams, target: url === '' ? null : url, via }, () =>
      facts([
        ['E-mail', email],
        ['Teams', teams.length === 0 ? 'none' : teams.join(', ')],
        ['Platform', target],
      ]),
    );
  });
}
