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
    .option('--force', 'also when it is swapped with another app')
    .action(async (named: string | undefined, options: { app?: string; yes?: boolean; force?: boolean }) => {
      const name = await appName(cli, options.app ?? named);
      if (options.yes !== true) await confirm(cli, `Remove ${name} for good?`, '--yes');
      const client = await cli.client();
      await cli.during(`Removing ${name}`, (say) =>
        client.apps.remove(name, { say, signal: cli.context.signal, ...(options.force === true && { force: true }) }),
      );
      cli.show({ app: name }, () => `App ${name} removed.`);
    });
}
