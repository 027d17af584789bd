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
          described(Description, Ready === false ? Missing : [], Ready === false ? [] : Tools),
        ]);
        return rows.length === 0 ? 'There are no platforms.' : table(['NAME', 'READY', 'DESCRIPTION'], rows);
      });
    });
  registerPlatformChanges(platform, cli);
}

function described(description: string, missing: readonly string[], tools: readonly string[]): string {
  const name = tools.length === 0 ? description : `${description} (${tools.join(', ')})`;
  return missing.length === 0 ? name : `${name}: ${missing.join('; ')}`;
}
