import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { appName } from '../git.ts';
import { LIMIT_OPTION, readLimit, showQuota } from '../users/quota.ts';
import { APP_OPTION } from './app-option.ts';

export function registerQuota(app: Command, cli: Cli): void {
  app
    .command('quota')
    .description('Show how many units an app has and may have')
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .option(...LIMIT_OPTION)
    .action(async (named: string | undefined, options: { app?: string; limit?: string }) => {
      const limit = readLimit(options.limit);
      const name = await appName(cli, options.app ?? named);
      const client = await cli.client();
      if (limit !== undefined) await cli.during('Setting the limit', () => client.quotas.setApp(name, limit));
      showQuota(cli, ['App', name], 'Units', await cli.during('Asking', () => client.quotas.ofApp(name)));
    });
}
