import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { table } from '../output.ts';
import { registerPlatformChanges } from './changes.ts';

export function registerPlatform(platform: Command, cli: Cli): void {
  platform
    .command('list')
    .description('List the platforms')
    .action(async () => {
      const client = await cli.client();
      const platforms = await cli.during('Asking', () => client.platforms.list());
      cli.show(platforms, () => {
        const rows = platforms.map(({ Name, Ready, Description = '', Tools = [], Missing = [], Disabled }) => [
          Name,
          Disabled === true ? 'disabled' : Ready === false ? 'no' : 'yes',
          [Description, ...(Ready === false ? Missing : Tools.length === 0 ? [] : [`(${Tools.join(', ')})`])].join(' '),
        ]);
        return rows.length === 0 ? 'There are no platforms.' : table(['NAME', 'READY', 'DESCRIPTION'], rows);
      });
    });
  registerPlatformChanges(platform, cli);
}
