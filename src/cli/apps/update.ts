import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { appName } from '../git.ts';
import { APP_OPTION } from './app-option.ts';

interface UpdateOptions {
  readonly app?: string;
  readonly description?: string;
  readonly platform?: string;
  readonly team?: string;
  readonly pool?: string;
  readonly plan?: string;
}

export function registerUpdate(app: Command, cli: Cli): void {
  app
    .command('update')
    .description('Change what is known of an app')
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .option('-d, --description <text>', 'what it is')
    .option('--platform <platform>', 'what it is written in, from the next deploy on')
    .option('-t, --team <team>', 'the team that owns it, one of yours')
    .option('--pool <pool>', 'the pool it is in')
    .option('--plan <plan>', 'what its units may use; they are replaced')
    .action(async (named: string | undefined, options: UpdateOptions) => {
      const { app: option, team, plan, ...fields } = options;
      const change = { ...fields, ...(team === undefined ? {} : { teamOwner: team }) };
      const isEmpty = Object.keys(change).length === 0;
      if (isEmpty && plan === undefined) throw new UsageError('Nothing to change.', 'tancho app update --help');
      const name = await appName(cli, option ?? named);
      const client = await cli.client();
      await cli.during(`Changing ${name}`, async (say) => {
        if (!isEmpty) await client.apps.update(name, change);
        if (plan !== undefined) await client.apps.changePlan(name, plan, { say });
      });
      cli.show({ app: name, ...change, ...(plan === undefined ? {} : { plan }) }, () => `App ${name} changed.`);
    });
}
