import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { appName } from '../git.ts';
import { confirm } from '../prompt.ts';
import { APP_OPTION } from './app-option.ts';

export function registerRemove(app: Command, cli: Cli): void {
  app
    .command('remove')
    .description('Remove an app with all it has: units, code, environment, log')
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .option('-y, --yes', 'do not ask')
    .action(async (named: string | undefined, options: { app?: string; yes?: boolean }) => {
      const name = await appName(cli, options.app ?? named);
      if (options.yes !== true) await confirm(cli, `Remove ${name} for good?`, '--yes');
      const client = await cli.client();
      await cli.during(`Removing ${name}`, (say) => client.apps.remove(name, { say, signal: cli.context.signal }));
      cli.show({ app: name }, () => `App ${name} removed.`);
    });
}

export function registerRestart(app: Command, cli: Cli): void {
  app
    .command('restart')
    .description('Replace the units of an app by new ones, without a failed request')
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .action(async (named: string | undefined, options: { app?: string }) => {
      const name = await appName(cli, options.app ?? named);
      const client = await cli.client();
      await cli.during(`Restarting ${name}`, (say) => client.apps.restart(name, { say, signal: cli.context.signal }));
      cli.show({ app: name }, () => `App ${name} restarted.`);
    });
}
