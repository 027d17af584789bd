import type { Command } from 'commander';
import { keyFingerprint } from '../../lib/key-fingerprint.ts';
import type { Cli } from '../cli.ts';
import { table } from '../output.ts';
import { findPublicKey, readPublicKey } from './public-key.ts';

export function registerKey(key: Command, cli: Cli): void {
  key
    .command('add')
    .description('Add a public key')
    .argument('[file]', 'the public key; - for standard input (default: the first found of ~/.ssh/id_*.pub)')
    .option('--name <name>', 'name of the key')
    .action(async (file: string | undefined, options: { name?: string }) => {
      const path = file ?? (await findPublicKey(cli));
      const text = await readPublicKey(cli, path);
      const client = await cli.client();
      await cli.during('Adding the key', () => client.keys.add(text, options.name));
      cli.show({ key: text, name: options.name ?? null }, () => `Added ${path === '-' ? 'the key' : path}.`);
    });
  key
    .command('list')
    .description('List your keys')
    .action(async () => {
      const client = await cli.client();
      const keys = await cli.during('Asking', () => client.keys.list());
      cli.show(keys, () => {
        const rows = Object.entries(keys).map(([name, text]) => [name, text.split(' ')[0] ?? '', fingerprint(text)]);
        return rows.length === 0
          ? 'You have no keys. To add yours: tancho key add'
          : table(['NAME', 'TYPE', 'FINGERPRINT'], rows);
      });
    });
  key
    .command('remove')
    .description('Remove a key')
    .argument('<name>', 'name of the key, as "tancho key list" shows it')
    .action(async (name: string) => {
      const client = await cli.client();
      await cli.during('Removing the key', () => client.keys.remove(name));
      cli.show({ name }, () => `Removed the key ${name}.`);
    });
}

/** As ssh-keygen -l prints it. */
function fingerprint(key: string): string {
  return keyFingerprint(Buffer.from(key.split(' ')[1] ?? '', 'base64'));
}
