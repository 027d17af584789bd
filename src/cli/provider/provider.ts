import { type Command, Option } from 'commander';
import type { Cli } from '../cli.ts';
import type { ServeFlags } from './serve.ts';

export function registerProvider(provider: Command, cli: Cli): void {
  provider.addHelpText('after', '\nHow services work, and how to write a provider: docs/providers.md.');
  registerPostgres(provider, cli);
  registerRedis(provider, cli);
  registerMock(provider, cli);
  registerCheck(provider, cli);
}

const URL_HELP = '\nThe address can come from TANCHO_PROVIDER_URL too, which other users of this machine cannot read.';

function serving(command: Command, name: string, port: number): Command {
  return command
    .option('--listen <host:port>', 'where the platform reaches it; port 0 is any free one', `127.0.0.1:${port}`)
    .option('--public-url <url>', 'its address for the platform, when it is another (behind TLS, for example)')
    .option('--name <name>', 'name of the service', name)
    .option('--username <name>', 'name the platform logs in with (default: the name of the service)')
    .option('--password <password>', 'its password (better: TANCHO_PROVIDER_PASSWORD; default: a new one, printed)')
    .option('--manifest <file>', 'write the service manifest to this file, readable by you only');
}

function registerPostgres(provider: Command, cli: Cli): void {
  serving(provider.command('postgres'), 'postgres', 8432)
    .description('Offer databases on a PostgreSQL server as a service')
    .option('--url <url>', 'postgres://user:password@host of a role that may create databases and roles')
    .option('--apps-host <host[:port]>', 'where apps reach the PostgreSQL server, when it is elsewhere for them')
    .addHelpText('after', URL_HELP)
    .action(async (flags: ServeFlags & { url?: string; appsHost?: string }) => {
      const { servePostgres } = await import('./bundled.ts');
      await servePostgres(cli, flags);
    });
}

function registerRedis(provider: Command, cli: Cli): void {
  serving(provider.command('redis'), 'redis', 8379)
    .description('Offer key spaces on a Redis server as a service')
    .option('--url <url>', 'redis://:password@host of a user who may do everything')
    .option('--apps-host <host[:port]>', 'where apps reach the Redis server, when it is elsewhere for them')
    .addHelpText('after', URL_HELP)
    .action(async (flags: ServeFlags & { url?: string; appsHost?: string }) => {
      const { serveRedis } = await import('./bundled.ts');
      await serveRedis(cli, flags);
    });
}

function registerMock(provider: Command, cli: Cli): void {
  serving(provider.command('mock'), 'mock', 8430)
    .description('Run a provider that keeps everything in memory and misbehaves as asked, for tests')
    .addOption(
      new Option('--misbehave <rule>', 'such as bind=hang, create=fail:503, all=slow:200*3; repeatable')
        .default([])
        .argParser((rule: string, before: string[]) => [...before, rule]),
    )
    .addHelpText(
      'after',
      `
While it runs: POST /_mock {"on":"bind","do":"hang","times":1} adds a rule, DELETE /_mock takes all back, GET /_mock shows
what there is and what was asked. All of them need the name and the password.`,
    )
    .action(async (flags: ServeFlags & { misbehave: string[] }) => {
      const { serveMock } = await import('./bundled.ts');
      await serveMock(cli, flags);
    });
}

function registerCheck(provider: Command, cli: Cli): void {
  provider
    .command('check')
    .description('Run the whole contract against a provider and say what holds')
    .argument('<url>', 'address of the provider')
    .option('--username <name>', 'name the provider wants')
    .option('--password <password>', 'its password (better: TANCHO_PROVIDER_PASSWORD)')
    .option('--timeout <seconds>', 'how long one call may take', '30')
    .addHelpText(
      'after',
      `
Makes instances whose names begin with "check-", and removes them again. Ends with 1 when something that is required does
not hold.`,
    )
    .action(async (url: string, flags: { username?: string; password?: string; timeout: string }) => {
      const { runCheck } = await import('./check.ts');
      cli.exitCode = await runCheck(cli, url, flags);
    });
}
