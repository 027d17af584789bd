import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { table } from '../output.ts';
import { ask, askPassword } from '../prompt.ts';

const HOST = ['<registry>', 'its host, such as registry.example.com or localhost:5000'] as const;
const TEAM = ['-t, --team <team>', 'for the apps of this team (default: of all, which admins may set)'] as const;

export function registerRegistry(registry: Command, cli: Cli): void {
  registry
    .command('login')
    .description('Keep a user and password for a registry of images')
    .argument(...HOST)
    .option('-u, --user <user>', 'who apps are there')
    .option(...TEAM)
    .addHelpText('after', '\nWithout a terminal the password is read from the first line of standard input.')
    .action(async (host: string, options: { user?: string; team?: string }) => {
      const user = options.user ?? (await ask(cli, `User at ${host}`, '--user'));
      const password = await askPassword(cli, `Password of ${user}`);
      const client = await cli.client();
      const login = { user, password, ...(options.team !== undefined && { team: options.team }) };
      await cli.during('Keeping it', () => client.registries.login(host, login));
      const team = options.team ?? '';
      cli.show({ host, team, user }, () => `${team === '' ? 'All apps' : `Apps of ${team}`} are ${user} at ${host}.`);
    });
  registry
    .command('list')
    .description('List the logins at registries, without their passwords')
    .action(async () => {
      const client = await cli.client();
      const logins = await cli.during('Asking', () => client.registries.list());
      const rows = logins.map(({ host, team, user }) => [host, team === '' ? 'all' : team, user]);
      cli.show(logins, () =>
        rows.length === 0 ? 'There are no logins at registries.' : table(['REGISTRY', 'TEAM', 'USER'], rows),
      );
    });
  registry
    .command('logout')
    .description('Forget the login at a registry')
    .argument(...HOST)
    .option(...TEAM)
    .action(async (host: string, { team = '' }: { team?: string }) => {
      const client = await cli.client();
      await cli.during('Forgetting it', () => client.registries.logout(host, team));
      cli.show({ host, team }, () => `The login at ${host} is forgotten.`);
    });
}
