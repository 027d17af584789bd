import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { table } from '../output.ts';

export function registerPool(pool: Command, cli: Cli): void {
  pool
    .command('list')
    .description('List the pools that your apps may be in')
    .action(async () => {
      const client = await cli.client();
      const pools = await cli.during('Asking', () => client.pools.list());
      const rows = pools.map((one) => [one.Name, one.Default ? 'yes' : '', one.Public ? 'all' : one.Teams.join(', ')]);
      cli.show(pools, () => table(['NAME', 'DEFAULT', 'TEAMS'], rows));
    });
  pool
    .command('create')
    .description('Create a pool (admins)')
    .argument('<pool>', 'name of the pool')
    .option('--public', 'every team may use it')
    .action(async (name: string, options: { public?: boolean }) => {
      const client = await cli.client();
      await cli.during('Creating the pool', () => client.pools.create(name, options));
      cli.show({ name }, () => `Pool ${name} created.`);
    });
  pool
    .command('update')
    .description('Open a pool to all teams, or to those only that were given access (admins)')
    .argument('<pool>', 'name of the pool')
    .option('--public', 'every team may use it')
    .option('--no-public', 'only teams with access may')
    .action(async (name: string, options: { public?: boolean }) => {
      const { public: isPublic } = options;
      if (isPublic === undefined) throw new UsageError('Nothing to change.', 'tancho pool update --help');
      const client = await cli.client();
      await cli.during('Changing the pool', () => client.pools.setPublic(name, isPublic));
      cli.show({ name, public: isPublic }, () => `The pool ${name} is ${isPublic ? '' : 'not '}open to all teams now.`);
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
