import type { Command } from 'commander';
import type { Limit } from '../../client/shapes.ts';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { facts } from '../output.ts';

/** The option that sets a limit; the same words in every command. */
export const LIMIT_OPTION = ['--limit <number>', 'set the limit, for admins; "none" for no limit'] as const;

export function registerUserQuota(user: Command, cli: Cli): void {
  user
    .command('quota')
    .description('Show how many apps a user owns and may own')
    .argument('[email]', 'e-mail of the user (default: you)')
    .option(...LIMIT_OPTION)
    .action(async (given: string | undefined, options: { limit?: string }) => {
      const limit = readLimit(options.limit);
      const client = await cli.client();
      const email = given ?? (await cli.during('Asking', () => client.users.info())).Email;
      if (limit !== undefined) await cli.during('Setting the limit', () => client.quotas.setUser(email, limit));
      showQuota(cli, ['User', email], 'Apps', await cli.during('Asking', () => client.quotas.ofUser(email)));
    });
}

/** -1 for "none". */
export function readLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (text === 'none') return -1;
  if (!/^[0-9]{1,9}$/.test(text)) throw new UsageError('--limit must be a whole number from 0 on, or "none".');
  return Number(text);
}

export function showQuota(cli: Cli, subject: readonly [string, string], what: string, quota: Limit): void {
  cli.show(quota, () =>
    facts([subject, [what, String(quota.inuse)], ['Limit', quota.limit < 0 ? 'none' : String(quota.limit)]]),
  );
}
