import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { appName } from '../git.ts';
import { table } from '../output.ts';
import { confirm } from '../prompt.ts';
import { APP_OPTION } from './app-option.ts';

export function registerTokens(app: Command, cli: Cli): void {
  app
    .command('token-create')
    .description('Make a token that deploys one app and reads it, its environment and its log; it is shown once')
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
    .command('token-list')
    .description('List the tokens of an app, without what they are')
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .action(async (named: string | undefined, options: { app?: string }) => {
      const name = await appName(cli, options.app ?? named);
      const client = await cli.client();
      const tokens = await cli.during('Asking', () => client.appTokens.list(name));
      const rows = tokens.map((one) => [one.Id, one.CreatedBy, one.CreatedAt, one.ExpiresAt]);
      const none = `The app ${name} has no tokens.`;
      cli.show(tokens, () => (rows.length === 0 ? none : table(['ID', 'BY', 'CREATED', 'EXPIRES'], rows)));
    });
  app
    .command('token-revoke')
    .description('End one token of an app, or all of them')
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .option('--id <token>', 'only this one, as "tancho app token-list" shows it')
    .option('-y, --yes', 'do not ask')
    .action(async (named: string | undefined, options: { app?: string; id?: string; yes?: boolean }) => {
      const name = await appName(cli, options.app ?? named);
      const { id } = options;
      if (id !== undefined) {
        const client = await cli.client();
        await cli.during('Ending the token', () => client.appTokens.revokeOne(name, id));
        cli.show({ app: name, id }, () => `The token ${id} of ${name} has ended.`);
        return;
      }
      if (options.yes !== true) await confirm(cli, `End all tokens of ${name}?`, '--yes');
      const client = await cli.client();
      await cli.during('Ending the tokens', () => client.appTokens.revoke(name));
      cli.show({ app: name }, () => `All tokens of ${name} have ended.`);
    });
}
