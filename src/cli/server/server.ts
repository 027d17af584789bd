import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';

export function registerServer(server: Command, cli: Cli): void {
  server
    .option('--welcome', 'on the first start, deploy a sample app and show how to deploy your own')
    .addHelpText(
      'after',
      `
Runs in the foreground. Ctrl-C stops everything, apps too; SIGTERM and "tancho server stop" stop the server and leave the
apps on the air, to be taken over by the next start. Settings: config.yaml in TANCHO_HOME, and docs/config.md.`,
    )
    .action(async (options: { welcome?: boolean }) => {
      const { runServer } = await import('./run.ts');
      cli.exitCode = await runServer(cli, options.welcome === true);
    });
  server
    .command('stop')
    .description('Stop the server of this machine')
    .option('--all', 'stop the apps too, and what serves them')
    .option('--timeout <seconds>', 'how long to wait for its end', '120')
    .action(async (options: { all?: boolean; timeout: string }) => {
      if (!/^[0-9]{1,5}$/.test(options.timeout)) throw new UsageError('--timeout must be a whole number of seconds.');
      const { stopServer } = await import('./stop.ts');
      await stopServer(cli, { all: options.all === true, deadlineMs: Number(options.timeout) * 1000 });
    });
  server
    .command('rollback')
    .description('Return to the databases as they were before an upgrade changed them; the server must be stopped')
    .option('--list', 'show the copies there are, newest first')
    .option('--to <name>', 'which copy (default: the newest)')
    .option('-y, --yes', 'do not ask')
    .action(async (options: { list?: boolean; to?: string; yes?: boolean }) => {
      const { rollBack } = await import('./rollback.ts');
      const to = options.to === undefined ? {} : { to: options.to };
      await rollBack(cli, { list: options.list === true, yes: options.yes === true, ...to });
    });
  server
    .command('backup')
    .description('Make a backup of the platform now, or show which there are (admins)')
    .option('--list', 'show which there are, and how the last one went')
    .action(async (options: { list?: boolean }) => {
      const { listBackups, makeBackup } = await import('./backup.ts');
      await (options.list === true ? listBackups(cli) : makeBackup(cli));
    });
  server
    .command('restore')
    .description('Put a backup into a home that has nothing yet, before the first start of the server')
    .argument('<directory>', 'of the backup')
    .action(async (backup: string) => {
      const { restore } = await import('./restore.ts');
      await restore(cli, backup);
    });
  server
    .command('disk')
    .description('Show how full the disk of the platform is, and who holds what of it (admins)')
    .action(async () => {
      const { showDisk } = await import('./disk.ts');
      await showDisk(cli);
    });
  server
    .command('health')
    .description('Show how the platform itself is: versions, memory, disk, unfinished deploys (admins)')
    .action(async () => {
      const { showHealth } = await import('./health.ts');
      await showHealth(cli);
    });
  server
    .command('status')
    .description('Say whether the server of this machine runs')
    .action(async () => {
      const { serverStatus } = await import('./status.ts');
      await serverStatus(cli);
    });
}
