import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { ask, askPassword } from '../prompt.ts';

export function registerUser(user: Command, cli: Cli): void {
  user
    .command('create')
    .description('Create an account')
    .argument('[email]', 'e-mail of the new user')
    .addHelpText('after', '\nWithout a terminal the password is read from the first line of standard input.')
    .action((email: string | undefined) => create(cli, email));
}

async function create(cli: Cli, given: string | undefined): Promise<void> {
  const { client, url } = await cli.chosen();
  const email = given ?? (await ask(cli, 'E-mail of the new user', 'tancho user create <email>'));
  const password = await askPassword(cli, 'Password (6 to 50 characters)');
  if (cli.interactive && (await askPassword(cli, 'Password again')) !== password) {
    throw new UsageError('The two passwords differ.', 'Nothing was done; try again.');
  }
  await cli.during('Creating the user', () => client.users.create(email, password));
  const next = `tancho login --email ${email}${url === '' ? '' : ` ${url}`}`;
  cli.show({ email }, () => `User ${email} created. To log in: ${next}`);
}
