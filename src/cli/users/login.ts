import type { Command } from 'commander';
import { createClient } from '../../client/client.ts';
import { isLoopbackHost } from '../../lib/loopback-host.ts';
import type { Cli } from '../cli.ts';
import { CliError } from '../errors.ts';
import { ask, askPassword } from '../prompt.ts';
import { readTargets, writeTargets } from '../target-store.ts';
import { DEFAULT_URL, normalUrl } from '../target.ts';

export function registerLogin(command: Command, cli: Cli): void {
  command
    .argument('[url]', `address of the platform (default: the one in use, else ${DEFAULT_URL})`)
    .option('--email <email>', 'your e-mail')
    .addHelpText('after', '\nWithout a terminal the password is read from the first line of standard input.')
    .action((url: string | undefined, options: { email?: string }) => login(cli, url, options.email));
}

async function login(cli: Cli, given: string | undefined, givenEmail: string | undefined): Promise<void> {
  const { env } = cli.context;
  const saved = await readTargets(env);
  const variable = env['TANCHO_TARGET'] ?? '';
  const asked = given ?? cli.options.target ?? (variable === '' ? saved.current : variable);
  const url = normalUrl(asked === '' ? DEFAULT_URL : asked);
  if (isOpen(url)) cli.warn(`${url} is not encrypted; others on the way can read your password.`);
  const email = givenEmail ?? (await ask(cli, `E-mail for ${url}`, '--email'));
  const password = await askPassword(cli, 'Password');
  const client = createClient({ baseUrl: url });
  const token = await cli.during('Logging in', () => client.users.login(email, password)).catch(refused);
  await writeTargets(env, { current: url, targets: { ...saved.targets, [url]: { email, token } } });
  cli.show({ target: url, email }, () => `Logged in to ${url} as ${email}.`);
}

/** "Log in" is no advice to somebody who just does. */
function refused(error: unknown): never {
  const { code = '', status = 0 } =
    error instanceof Error ? (error as Error & { code?: unknown; status?: unknown }) : {};
  if (!(error instanceof Error) || code !== 'client.bad_answer' || status !== 404) throw error;
  throw new CliError('What answers there is no Tancho API.', 'The API has a port of its own, 8080 unless changed.', {
    cause: error,
  });
}

/** Plain HTTP to another machine. */
function isOpen(url: string): boolean {
  const { protocol, host } = new URL(url);
  return protocol === 'http:' && !isLoopbackHost(host);
}
