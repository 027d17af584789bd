import type { Command } from 'commander';
import type { PoolChange } from '../../client/client.ts';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { table } from '../output.ts';

interface PoolOptions {
  readonly public?: boolean;
  readonly engine?: string;
  readonly option?: readonly string[];
}

const ENGINE = ['--engine <engine>', "which of the server's engines runs its apps"] as const;
const OPTION = ['--option <name=value...>', 'where in the engine'] as const;

export function registerPool(pool: Command, cli: Cli): void {
  pool
    .command('list')
    .description('List the pools that your apps may be in')
    .action(async () => {
      const client = await cli.client();
      const pools = await cli.during('Asking', () => client.pools.list());
      const rows = pools.map((one) => [
        one.Name,
        one.Default ? 'yes' : '',
        one.Public ? 'all' : one.Teams.join(', '),
        [one.Engine, ...Object.entries(one.Options).map((pair) => pair.join('='))].join(' '),
      ]);
      cli.show(pools, () => table(['NAME', 'DEFAULT', 'TEAMS', 'ENGINE'], rows));
    });
  pool
    .command('create')
    .description('Create a pool (admins)')
    .argument('<pool>', 'name of the pool')
    .option('--public', 'every team may use it')
    .option(...ENGINE)
    .option(...OPTION)
    .action(async (name: string, options: PoolOptions) => {
      const client = await cli.client();
      await cli.during('Creating the pool', () => client.pools.create(name, changeOf(options)));
      cli.show({ name }, () => `Pool ${name} created.`);
    });
  pool
    .command('update')
    .description('Say who may use a pool, and, while no app is in it, where its apps run (admins)')
    .argument('<pool>', 'name of the pool')
    .option('--public', 'every team may use it')
    .option('--no-public', 'only teams with access may')
    .option(...ENGINE)
    .option(...OPTION)
    .action(async (name: string, options: PoolOptions) => {
      const change = changeOf(options);
      if (Object.keys(change).length === 0) throw new UsageError('Nothing to change.', 'tancho pool update --help');
      const client = await cli.client();
      await cli.during('Changing the pool', () => client.pools.update(name, change));
      cli.show({ name, ...change }, () => `Pool ${name} changed.`);
    });
  pool
    .command('remove')
    .description('Remove a pool without apps (admins)')
    .argument('<pool>', 'name of the pool')
    .action(async (name: string) => {
      const client = await cli.client();
      await cli.during('Removing the pool', () => client.pools.remove(name));
      cli.show({ name }, () => `Pool ${name} removed.`);
    });
  registerTeams(pool, cli);
}

function changeOf({ public: isPublic, engine, option }: PoolOptions): PoolChange {
  return {
    ...(isPublic !== undefined && { public: isPublic }),
    ...(engine !== undefined && { engine }),
    ...(option !== undefined && { options: Object.fromEntries(option.map(cut)) }),
  };
}

function cut(pair: string): [name: string, value: string] {
  const at = pair.indexOf('=');
  if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
  throw new UsageError('Options are written name=value.', 'tancho pool create --help');
}

function registerTeams(pool: Command, cli: Cli): void {
  pool
    .command('team-add')
    .description('Let teams use a pool (admins)')
    .argument('<pool>', 'name of the pool')
    .argument('<team...>', 'names of the teams')
    .action(async (name: string, teams: string[]) => {
      const client = await cli.client();
      await cli.during('Giving access', () => client.pools.addTeams(name, teams));
      cli.show({ pool: name, teams }, () => `The pool ${name} is open to ${teams.join(', ')} now.`);
    });
  pool
    .command('team-remove')
    .description('Let teams no longer use a pool; apps that are in it stay (admins)')
    .argument('<pool>', 'name of the pool')
    .argument('<team...>', 'names of the teams')
    .action(async (name: string, teams: string[]) => {
      const client = await cli.client();
      await cli.during('Taking access away', () => client.pools.removeTeams(name, teams));
      cli.show({ pool: name, teams }, () => `The pool ${name} is closed to ${teams.join(', ')} now.`);
    });
}
