import type { Command } from 'commander';
import type { Cli } from '../cli.ts';

export function registerToken(token: Command, cli: Cli): void {
  token
    .command('show')
    .description('Print your API key; it works wherever a token does')
    .action(async () => {
      const client = await cli.client();
      const shown = await cli.during('Asking', () => client.users.apiKey());
      cli.show(shown, () => shown.token);
    });
  token
    .command('regenerate')
    .description('Make a new API key and print it; the old one ends at once')
    .action(async () => {
      const client = await cli.client();
      const made = await cli.during('Making the key', () => client.users.regenerateApiKey());
      cli.show({ token: made }, () => made);
    });
}
