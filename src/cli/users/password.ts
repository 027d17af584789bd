import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { readInput } from '../input.ts';
import { askPassword } from '../prompt.ts';

const NEW = 'New password (6 to 50 characters)';

export function registerPassword(user: Command, cli: Cli): void {
  user
    .command('password')
    .description('Change your password; every other login of yours ends')
    .addHelpText(
      'after',
      '\nWithout a terminal the old and the new password are the first two lines of standard input.',
    )
    .action(async () => {
      const client = await cli.client();
      const [old, wanted] = await askBoth(cli);
      await cli.during('Changing the password', () => client.users.changePassword(old, wanted));
      cli.show({ changed: true }, () => 'Password changed. Other logins of yours have ended.');
    });
}

export function registerReset(user: Command, cli: Cli): void {
  user
    .command('reset')
    .description('Ask for a new password by mail, then set it with the token that was mailed')
    .argument('<email>', 'e-mail of the user')
    .option('--token <token>', 'the token of the mail')
    .option('--random', 'with --token: have a random password mailed')
    .addHelpText(
      'after',
      '\nA platform without a mail server keeps its letters as files: mail/ in the home of the server.',
    )
    .addHelpText('after', '\nWithout a terminal the new password is read from the first line of standard input.')
    .action((email: string, options: { token?: string; random?: boolean }) => reset(cli, email, options));
}

async function reset(cli: Cli, email: string, options: { token?: string; random?: boolean }): Promise<void> {
  const { token, random } = options;
  if (token === undefined) {
    if (random === true) throw new UsageError('--random needs a token.', 'Give the token of the mail with --token.');
    const client = await cli.client();
    await cli.during('Asking for a mail', () => client.users.requestReset(email));
    cli.show({ email, mailed: 'token' }, () =>
      [`A token was mailed to ${email}. To go on:`, `  tancho user reset ${email} --token <token>`].join('\n'),
    );
    return;
  }
  const password = random === true ? undefined : await askNew(cli);
  const client = await cli.client();
  await cli.during('Setting the password', () => client.users.resetPassword(email, token, password));
  if (password === undefined) {
    cli.show({ email, mailed: 'password' }, () => `A new password was mailed to ${email}.`);
  } else {
    cli.show(
      { email, changed: true },
      () => `The password of ${email} is set. To log in: tancho login --email ${email}`,
    );
  }
}

async function askNew(cli: Cli): Promise<string> {
  const wanted = await askPassword(cli, NEW);
  if (cli.interactive && (await askPassword(cli, 'New password again')) !== wanted) {
    throw new UsageError('The two passwords differ.', 'Nothing was done; try again.');
  }
  return wanted;
}

async function askBoth(cli: Cli): Promise<[string, string]> {
  if (cli.interactive) return [await askPassword(cli, 'Old password'), await askNew(cli)];
  const [old = '', wanted = ''] = (await readInput(cli)).split(/\r?\n/);
  if (old === '' || wanted === '') {
    throw new UsageError(
      'The passwords are missing.',
      'Give the old and the new one as the first two lines of standard input.',
    );
  }
  return [old, wanted];
}
