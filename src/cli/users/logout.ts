import type { Command } from 'commander';
import { createClient } from '../../client/client.ts';
import { ClientError } from '../../client/errors.ts';
import type { Cli } from '../cli.ts';
import { CliError } from '../errors.ts';
import { readTargets, writeTargets } from '../target-store.ts';
import { normalUrl } from '../target.ts';

export function registerLogout(command: Command, cli: Cli): void {
  command
    .option('--everywhere', 'end every session of yours, those of other machines and browsers too')
    .action((options: { everywhere?: boolean }) => logout(cli, options.everywhere === true));
}

async function logout(cli: Cli, isEverywhere: boolean): Promise<void> {
  const { env } = cli.context;
  const saved = await readTargets(env);
  const asked = cli.options.target ?? env['TANCHO_TARGET'] ?? '';
  const url = asked === '' ? saved.current : normalUrl(asked);
  const login = saved.targets[url];
  if (login === undefined) throw new CliError('You are not logged in.', 'To log in: tancho login <url>');
  const targets = Object.fromEntries(Object.entries(saved.targets).filter(([other]) => other !== url));
  try {
    const { users } = createClient({ baseUrl: url }, login.token);
    await (isEverywhere ? users.logoutEverywhere() : users.logout());
  } catch (error) {
    // A session that has ended already, or a platform that is gone: the login is forgotten here all the same. With --everywhere it stays
    // where the platform is gone: only with it can the other sessions still be ended.
    if (!(error instanceof ClientError) || (error.status !== 401 && (error.status !== 0 || isEverywhere))) throw error;
    if (error.status === 0) cli.warn(`${error.message} The session there goes on until it expires.`);
  }
  await writeTargets(env, { current: saved.current === url ? '' : saved.current, targets });
  cli.show({ target: url }, () => `Logged out of ${url}${isEverywhere ? ', everywhere' : ''}.`);
}
