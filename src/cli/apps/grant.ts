import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { appName } from '../git.ts';
import { APP_OPTION } from './app-option.ts';

export function registerGrant(app: Command, cli: Cli): void {
  app
    .command('grant')
    .description('Give a team access to an app: its members may do everything with it')
    .argument('<team>', 'name of the team')
    .option(...APP_OPTION)
    .action(async (team: string, options: { app?: string }) => {
      const name = await appName(cli, options.app);
      const client = await cli.client();
      await cli.during('Giving access', () => client.apps.grant(name, team));
      cli.show({ app: name, team }, () => `The team ${team} has access to ${name} now.`);
    });
}

export function registerRevoke(app: Command, cli: Cli): void {
  app
    .command('revoke')
    .description("Take a team's access to an app away")
    .argument('<team>', 'name of the team')
    .option(...APP_OPTION)
    .action(async (team: string, options: { app?: string }) => {
      const name = await appName(cli, options.app);
      const client = await cli.client();
      await cli.during('Taking access away', () => client.apps.revoke(name, team));
      cli.show({ app: name, team }, () => `The team ${team} no longer has access to ${name}.`);
    });
}
