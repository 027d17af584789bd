/** `tancho migrate`: a platform that outgrows its machine, in the two steps that this takes, and back again. */
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';

interface MigrateOptions {
  readonly to?: string;
  readonly pool?: string;
  readonly from?: string;
  readonly app?: readonly string[];
}

export function registerMigrate(command: Command, cli: Cli): void {
  command
    .option('--to <url>', 'move the state: postgres://... of an empty database (better: TANCHO_MIGRATE_TO), or sqlite')
    .option('--pool <pool>', 'move apps to this pool, one after the other (admins)')
    .option('--from <pool>', 'of the apps only those of this pool')
    .option('-a, --app <app...>', 'these apps only')
    .addHelpText(
      'after',
      `
The state: logs that are complete are copied while the server serves. Then it stops by itself, and serves again by the same process;
meanwhile, for seconds, the API does not answer, and the apps stay on the air. Every row is compared where it has come to. Until all of it is there the state stays where it
was, whatever is cut off. --to sqlite is the way back, with all that has changed since.

Apps: each moves by a rollout, without a failed request, and stays where it is when it does not start there. What cannot be moved is
said before anything begins. The same command again goes on where it was cut off; the way back is the other pool.

Examples:
  TANCHO_MIGRATE_TO=postgres://tancho:secret@db.example.com/tancho tancho migrate
  tancho migrate --to sqlite
  tancho migrate --pool prod
  tancho migrate --pool default --from prod`,
    )
    .action(async ({ to, pool, from, app }: MigrateOptions) => {
      if (pool !== undefined) {
        if (to !== undefined) throw new UsageError('State and apps are moved one after the other: --to or --pool.');
        const { moveApps } = await import('../pools/move-apps.ts');
        cli.exitCode = await moveApps(cli, { pool, from: from ?? null, apps: app ?? [] });
        return;
      }
      if (from !== undefined || app !== undefined) throw new UsageError('Say to which pool: --pool <pool>.');
      const { moveState } = await import('./move-state.ts');
      await moveState(cli, to ?? cli.context.env['TANCHO_MIGRATE_TO'] ?? '');
    });
}
