/** What admins do about one app. */
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { appName } from '../git.ts';
import { APP_OPTION } from './app-option.ts';

export function registerUpkeep(app: Command, cli: Cli): void {
  app
    .command('unlock')
    .description('Wait until nobody works on an app, and say who does when it takes long (admins)')
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .action(async (named: string | undefined, options: { app?: string }) => {
      const name = await appName(cli, options.app ?? named);
      const client = await cli.client();
      await cli.during('Waiting', () => client.apps.unlock(name));
      cli.show({ app: name }, () => `Nobody works on ${name}.`);
    });
  app
    .command('routes')
    .description('Bring the routes of an app to the router once more (admins)')
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .action(async (named: string | undefined, options: { app?: string }) => {
      const name = await appName(cli, options.app ?? named);
      const client = await cli.client();
      const change = await cli.during('Publishing the routes', () => client.apps.republish(name));
      const lines = [
        ...change.Added.map((address) => `Added ${address}`),
        ...change.Removed.map((address) => `Removed ${address}`),
      ];
      cli.show(change, () => (lines.length === 0 ? `The routes of ${name} were right.` : lines.join('\n')));
    });
}
