/** Changes of what platforms there are; for admins. */
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { readFileOrInput } from '../input.ts';

const FILE = 'file with the definition (docs/platforms.md); - is standard input';

export function registerPlatformChanges(platform: Command, cli: Cli): void {
  platform
    .command('add')
    .description('Add a platform (admins)')
    .argument('<name>', 'name of the platform')
    .argument('<file>', FILE)
    .action(async (name: string, file: string) => {
      const definition = await readFileOrInput(cli, file);
      const client = await cli.client();
      await cli.during('Adding the platform', (say) => client.platforms.add(name, definition, { say }));
      cli.show({ name }, () => `To make an app for it: tancho app create <name> ${name}`);
    });
  platform
    .command('update')
    .description('Change the definition of a platform that was added, for the next deploys (admins)')
    .argument('<platform>', 'name of the platform')
    .argument('<file>', FILE)
    .action(async (name: string, file: string) => {
      const definition = await readFileOrInput(cli, file);
      const client = await cli.client();
      await cli.during('Changing the platform', (say) => client.platforms.update(name, definition, { say }));
      cli.show({ name }, () => 'Its apps are built with it from their next deploy on.');
    });
  for (const verb of ['enable', 'disable'] as const) registerSwitch(platform, cli, verb);
  platform
    .command('remove')
    .description('Remove a platform that was added and has no apps (admins)')
    .argument('<platform>', 'name of the platform')
    .action(async (name: string) => {
      const client = await cli.client();
      await cli.during('Removing the platform', () => client.platforms.remove(name));
      cli.show({ name }, () => `Platform ${name} removed.`);
    });
}

function registerSwitch(platform: Command, cli: Cli, verb: 'enable' | 'disable'): void {
  platform
    .command(verb)
    .description(`${verb === 'enable' ? 'Let' : 'No longer let'} people make apps for a platform (admins)`)
    .argument('<platform>', 'name of the platform')
    .action(async (name: string) => {
      const client = await cli.client();
      await cli.during('Changing the platform', () => client.platforms.setDisabled(name, verb === 'disable'));
      cli.show({ name, disabled: verb === 'disable' }, () => `Platform ${name} ${verb}d.`);
    });
}
