import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { appName } from '../git.ts';
import { confirm } from '../prompt.ts';
import { APP_OPTION } from './app-option.ts';

export function registerTokens(app: Command, cli: Cli): void {
  app
    .command('token-create')
    .description('Make a token that reads one app, its environment and its log; it is shown once')
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .option('--export', 'also give it to the app, as the private variable TANCHO_APP_TOKEN')
    .action(async (named: string | undefined, options: { app?: string; export?: boolean }) => {
      const name = await appName(cli, options.app ?? named);
      const client = await cli.client();
      const made = await cli.during('Making the token', () => client.appTokens.create(name, options.export === true));
      cli.show(made, () => made.Token);
    });
  app
    .command('token-revoke')
    .description('End all tokens of an app')
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .option('-y, --yes', 'do not ask')
    .action(async (named: string | undefined, options: { app?: string; yes?: boolean }) => {
      const name = await appName(cli, options.app ?? named);
      if (options.yes !== true) await confirm(cli, `End all tokens of ${name}?`, '--yes');
      const client = await cli.client();
      await cli.during('Ending the tokens', () => client.appTokens.revoke(name));
      cli.show({ app: name }, () => `All tokens of ${name} have ended.`);
    });
}
