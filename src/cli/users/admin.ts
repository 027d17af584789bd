import type { Command } from 'commander';
import type { Cli } from '../cli.ts';

export function registerAdmin(user: Command, cli: Cli): void {
  user
    .command('admin')
    .description('Make a user an admin of the platform, or take it back (admins)')
    .argument('<email>', 'e-mail of the user')
    .option('--revoke', 'take it back')
    .action(async (email: string, options: { revoke?: boolean }) => {
      const client = await cli.client();
      const isAdmin = options.revoke !== true;
      await cli.during('Changing the user', () => client.users.setAdmin(email, isAdmin));
      cli.show({ email, admin: isAdmin }, () => `${email} is ${isAdmin ? 'an admin now' : 'no longer an admin'}.`);
    });
}
