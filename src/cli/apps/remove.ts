import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import type { Client } from '../../client/client.ts';
import { byteSize } from '../byte-size.ts';
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
      if (options.yes !== true) await confirm(cli, async () => question(await cli.client(), name), '--yes');
      const client = await cli.client();
      await cli.during(`Removing ${name}`, (say) =>
        client.apps.remove(name, { say, signal: cli.context.signal, ...(options.force === true && { force: true }) }),
      );
      cli.show({ app: name }, () => `App ${name} removed.`);
    });
}

/** Nothing brings back what lies in volumes. */
async function question(client: Client, app: string): Promise<string> {
  const volumes = await client.volumes.list(app);
  const held = volumes.map(({ name, bytes }) => (bytes < 0 ? name : `${name}, ${byteSize(bytes)}`)).join('; ');
  const what = volumes.length === 0 ? app : `${app}, with the data of its volumes (${held}),`;
  return `Remove ${what} for good?`;
}
