/** `tancho migrate`: the state of a stopped server, from the files of its home to a PostgreSQL. */
import type { Command } from 'commander';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import type { Cli } from '../cli.ts';
import { CliError, UsageError } from '../errors.ts';
import { claimedHome, demandStopped } from './stopped.ts';

export function registerMigrate(command: Command, cli: Cli): void {
  command
    .option('--to <url>', 'postgres://... of an empty database (better: TANCHO_MIGRATE_TO)')
    .addHelpText(
      'after',
      `
The server must be stopped; apps stay on the air. Every row is compared where it has come to, and all of it is there or nothing. The
files stay as they are: without TANCHO_DATABASE_URL the server starts with them again, as they were then.`,
    )
    .action(({ to }: { to?: string }) => migrate(cli, to ?? cli.context.env['TANCHO_MIGRATE_TO'] ?? ''));
}

async function migrate(cli: Cli, url: string): Promise<void> {
  const { home, env, server } = cli.context;
  if (!/^postgres(?:ql)?:\/\//.test(url))
    throw new UsageError('Say where to: --to postgres://user:password@host/database.');
  const { databaseUrl } = await loadConfig(env);
  if (databaseUrl !== null)
    throw new CliError('The state of this server is in PostgreSQL already.', 'Nothing has to be done.');
  if (!existsSync(join(home, 'tancho.db')))
    throw new CliError(`There is no state of a server in ${home}.`, 'Set TANCHO_HOME.');
  await demandStopped(cli);
  const release = await claimedHome(home);
  try {
    const tables = await cli.during('Copying', (say) =>
      server.moveState({ home, url, onTable: ({ table, rows }) => say(`${table}: ${rows}`) }),
    );
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    cli.show(tables, () =>
      [
        `${rows} rows of ${tables.length} tables are there, each as it was.`,
        `Now start the server with them: TANCHO_DATABASE_URL=<that address>, or database.url in ${join(home, 'config.yaml')}.`,
        'The way back: start it without; the files in the home are as they were.',
      ].join('\n'),
    );
  } finally {
    await release();
  }
}
