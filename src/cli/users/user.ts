import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { table } from '../output.ts';
import { ask, askPassword, confirm } from '../prompt.ts';
import { registerAdmin } from './admin.ts';
import { registerPassword, registerReset } from './password.ts';
import { registerUserQuota } from './quota.ts';

const FROM_INPUT = '\nWithout a terminal the password is read from the first line of standard input.';

export function registerUser(user: Command, cli: Cli): void {
  user
    .command('create')
    .description('Create an account')
    .argument('[email]', 'e-mail of the new user')
    .addHelpText('after', FROM_INPUT)
    .action((email: string | undefined) => create(cli, email));
  registerUserList(user, cli);
  registerPassword(user, cli);
  registerReset(user, cli);
  registerUserQuota(user, cli);
  registerAdmin(user, cli);
  user
    .command('remove')
    .description('Remove an account: yours, or for admins any')
    .argument('[email]', 'e-mail of the user (default: you)')
    .option('-y, --yes', 'do not ask')
    .action((email: string | undefined, options: { yes?: boolean }) => remove(cli, email, options.yes === true));
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

function registerUserList(user: Command, cli: Cli): void {
  user
    .command('list')
    .description('List the users: all for admins, otherwise you')
    .action(async () => {
      const client = await cli.client();
      const users = await cli.during('Asking', () => client.users.list());
      cli.show(users, () => {
        const rows = users.map(({ Email, Admin, Teams }) => [Email, Admin === true ? 'yes' : '', Teams.join(', ')]);
        return table(['E-MAIL', 'ADMIN', 'TEAMS'], rows);
      });
    });
}

async function remove(cli: Cli, email: string | undefined, isSure: boolean): Promise<void> {
  if (!isSure) await confirm(cli, `Remove ${email ?? 'your own account'} for good?`, '--yes');
  const client = await cli.client();
  const name = email ?? (await cli.during('Asking', () => client.users.info())).Email;
  await cli.during('Removing the user', () => client.users.remove(name));
  cli.show({ email: name }, () => `User ${name} removed.`);
}
