import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { facts, table } from '../output.ts';

export function registerTeam(team: Command, cli: Cli): void {
  team
    .command('list')
    .description('List your teams')
    .action(async () => {
      const client = await cli.client();
      const teams = await cli.during('Asking', () => client.teams.list());
      cli.show(teams, () =>
        teams.length === 0
          ? 'You are in no team. To make one: tancho team create <name>'
          : table(
              ['NAME'],
              teams.map(({ name }) => [name]),
            ),
      );
    });
  team
    .command('info')
    .description('Show a team and its members')
    .argument('<team>', 'name of the team')
    .action(async (name: string) => {
      const client = await cli.client();
      const found = await cli.during('Asking', () => client.teams.info(name));
      cli.show(found, () =>
        facts([
          ['Team', found.name],
          ['Members', found.users.join(', ')],
        ]),
      );
    });
  team
    .command('create')
    .description('Create a team; you become its first member')
    .argument('<team>', 'name of the team')
    .action(async (name: string) => {
      const client = await cli.client();
      await cli.during('Creating the team', () => client.teams.create(name));
      cli.show({ name }, () => `Team ${name} created.`);
    });
  team
    .command('remove')
    .description('Remove a team that owns nothing any more')
    .argument('<team>', 'name of the team')
    .action(async (name: string) => {
      const client = await cli.client();
      await cli.during('Removing the team', () => client.teams.remove(name));
      cli.show({ name }, () => `Team ${name} removed.`);
    });
  registerMembers(team, cli);
}

function registerMembers(team: Command, cli: Cli): void {
  team
    .command('member-add')
    .description('Add a user to a team')
    .argument('<team>', 'name of the team')
    .argument('<email>', 'e-mail of the user')
    .action(async (name: string, email: string) => {
      const client = await cli.client();
      await cli.during('Adding the member', () => client.teams.addMember(name, email));
      cli.show({ team: name, email }, () => `${email} is now in the team ${name}.`);
    });
  team
    .command('member-remove')
    .description('Remove a user from a team')
    .argument('<team>', 'name of the team')
    .argument('<email>', 'e-mail of the user')
    .action(async (name: string, email: string) => {
      const client = await cli.client();
      await cli.during('Removing the member', () => client.teams.removeMember(name, email));
      cli.show({ team: name, email }, () => `${email} is no longer in the team ${name}.`);
    });
}
