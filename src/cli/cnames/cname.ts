import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { appName } from '../git.ts';
import { APP_OPTION } from '../apps/app-option.ts';

export function registerCname(cname: Command, cli: Cli): void {
  cname
    .command('list')
    .description('List the extra host names of an app')
    .option(...APP_OPTION)
    .action(async (options: { app?: string }) => {
      const app = await appName(cli, options.app);
      const client = await cli.client();
      const { cname: names = [] } = await cli.during('Asking', () => client.apps.info(app));
      cli.show(names, () => (names.length === 0 ? `${app} has no extra host names.` : names.join('\n')));
    });
  cname
    .command('add')
    .description('Let an app answer at further host names')
    .argument('<name...>', 'such as www.example.com or *.example.com')
    .option(...APP_OPTION)
    .addHelpText('after', '\nThe name must lead to this platform: make it an alias (CNAME) of its host.')
    .action(async (names: string[], options: { app?: string }) => {
      const app = await appName(cli, options.app);
      const client = await cli.client();
      await cli.during(`Adding host names to ${app}`, () => client.apps.addCnames(app, names));
      cli.show({ app, cname: names }, () => `${app} answers at ${names.join(', ')} now.`);
    });
  cname
    .command('remove')
    .description('Take host names away from an app')
    .argument('<name...>', 'as "tancho cname list" shows them')
    .option(...APP_OPTION)
    .action(async (names: string[], options: { app?: string }) => {
      const app = await appName(cli, options.app);
      const client = await cli.client();
      await cli.during(`Removing host names of ${app}`, () => client.apps.removeCnames(app, names));
      cli.show({ app, cname: names }, () => `${app} no longer answers at ${names.join(', ')}.`);
    });
}
