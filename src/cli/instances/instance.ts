import type { Command } from 'commander';
import { APP_OPTION } from '../apps/app-option.ts';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { appName } from '../git.ts';
import { facts, table } from '../output.ts';
import { confirm } from '../prompt.ts';
import { registerUpdate } from './update.ts';

const INSTANCE = ['<instance>', 'name of the instance'] as const;

interface CreateOptions {
  readonly plan?: string;
  readonly team?: string;
  readonly description?: string;
  readonly tag?: readonly string[];
  readonly param?: readonly string[];
}

export function registerInstance(instance: Command, cli: Cli): void {
  registerMaking(instance, cli);
  registerUpdate(instance, cli);
  registerLooking(instance, cli);
  registerBinding(instance, cli);
  instance
    .command('grant')
    .description('Give a team access to an instance')
    .argument(...INSTANCE)
    .argument('<team>', 'name of the team')
    .action(async (name: string, team: string) => {
      const client = await cli.client();
      await cli.during('Giving access', () => client.instances.grant(name, team));
      cli.show({ instance: name, team }, () => `The team ${team} has access to ${name} now.`);
    });
  instance
    .command('revoke')
    .description("Take a team's access to an instance away; what is bound stays bound")
    .argument(...INSTANCE)
    .argument('<team>', 'name of the team')
    .action(async (name: string, team: string) => {
      const client = await cli.client();
      await cli.during('Taking access away', () => client.instances.revoke(name, team));
      cli.show({ instance: name, team }, () => `The team ${team} no longer has access to ${name}.`);
    });
}

function registerMaking(instance: Command, cli: Cli): void {
  instance
    .command('create')
    .description('Have a service make an instance')
    .argument('<service>', 'name of the service')
    .argument('<name>', 'what the instance is to be called')
    .option('--plan <plan>', 'as "tancho service plans" lists them')
    .option('-t, --team <team>', 'the team that owns it (default: all of yours)')
    .option('--description <text>', 'what it is for')
    .option('--tag <tag...>', 'words to find it by')
    .option('-p, --param <name=value...>', 'what the provider is to know')
    .action(async (service: string, name: string, { plan, team, description, tag, param }: CreateOptions) => {
      const given = {
        ...(plan !== undefined && { plan }),
        ...(team !== undefined && { team }),
        ...(description !== undefined && { description }),
        ...(tag !== undefined && { tags: tag }),
        ...(param !== undefined && { parameters: parametersOf(param) }),
      };
      const client = await cli.client();
      await cli.during(`Making ${name}`, () => client.instances.create({ service, name, ...given }));
      cli.show({ service, instance: name }, () => `${name} is made. To bind it: tancho instance bind ${name} -a <app>`);
    });
  instance
    .command('remove')
    .description('Remove an instance, with what is in it')
    .argument(...INSTANCE)
    .option('-y, --yes', 'do not ask')
    .option('--unbind-all', 'unbind the apps that are bound to it first')
    .option('--force', 'forget it even if its provider does not answer')
    .action(async (name: string, options: { yes?: boolean; unbindAll?: boolean; force?: boolean }) => {
      if (options.yes !== true) await confirm(cli, `Remove ${name} and what is in it for good?`, '--yes');
      const client = await cli.client();
      const how = { ...(options.unbindAll && { unbindAll: true }), ...(options.force && { force: true }) };
      await cli.during(`Removing ${name}`, (say) =>
        client.instances.remove(name, { ...how, say, signal: cli.context.signal }),
      );
      cli.show({ instance: name }, () => `${name} is removed.`);
    });
}

function registerLooking(instance: Command, cli: Cli): void {
  instance
    .command('list')
    .description('List the instances that you have access to')
    .option('-a, --app <app>', 'only those that this app is bound to')
    .action(async (options: { app?: string }) => {
      const client = await cli.client();
      const list = await cli.during('Asking', () => client.instances.list(options));
      const rows = list.flatMap((one) => one.instances.map((name) => [name, one.service]));
      cli.show(list, () => (rows.length === 0 ? 'There are no instances.' : table(['INSTANCE', 'SERVICE'], rows)));
    });
  instance
    .command('info')
    .description('Show an instance')
    .argument(...INSTANCE)
    .action(async (name: string) => {
      const client = await cli.client();
      const found = await cli.during('Asking', () => client.instances.info(name));
      cli.show(found, () =>
        facts([
          ['Instance', found.name],
          ['Service', found.servicename],
          ['Plan', found.PlanName],
          ['Description', found.Description],
          ['Tags', found.Tags.join(', ')],
          ['Owner', found.TeamOwner],
          ['Teams', found.teams.join(', ')],
          ['Apps', found.apps.join(', ')],
          ['Status', found.Status],
          ...Object.entries(found.Info),
        ]),
      );
    });
  instance
    .command('status')
    .description('Ask the provider whether an instance can be used')
    .argument(...INSTANCE)
    .action(async (name: string) => {
      const client = await cli.client();
      const status = await cli.during('Asking', () => client.instances.status(name));
      cli.show({ instance: name, status }, () => status);
    });
}

function registerBinding(instance: Command, cli: Cli): void {
  instance
    .command('bind')
    .description('Bind an app to an instance: it restarts once with the variables it gets')
    .argument(...INSTANCE)
    .option(...APP_OPTION)
    .option('--as <name=variable...>', 'call a variable otherwise than the service: POSTGRES_URL=DATABASE_URL')
    .option('--no-restart', 'let them take effect with the next restart')
    .action(async (name: string, options: { app?: string; as?: string[]; restart: boolean }) => {
      const app = await appName(cli, options.app);
      const client = await cli.client();
      const vars = await cli.during(`Binding ${app} to ${name}`, () =>
        client.instances.bind(name, app, {
          ...(!options.restart && { noRestart: true }),
          ...(options.as !== undefined && { as: options.as }),
        }),
      );
      // The values are secrets: they are in the app's environment, not on the screen.
      const names = Object.keys(vars);
      cli.show({ instance: name, app, variables: names }, () =>
        [`${app} is bound to ${name} and has:`, ...names.map((one) => `  ${one}`), '  TSURU_SERVICES'].join('\n'),
      );
    });
  instance
    .command('unbind')
    .description('Unbind an app from an instance: it restarts once without the variables')
    .argument(...INSTANCE)
    .option(...APP_OPTION)
    .option('--no-restart', 'let the units that run go on with them until the next restart')
    .option('--force', 'forget the binding even if the provider does not answer')
    .action(async (name: string, options: { app?: string; restart: boolean; force?: boolean }) => {
      const app = await appName(cli, options.app);
      const client = await cli.client();
      const how = { ...(!options.restart && { noRestart: true }), ...(options.force && { force: true }) };
      await cli.during(`Unbinding ${app} from ${name}`, (say) =>
        client.instances.unbind(name, app, { ...how, say, signal: cli.context.signal }),
      );
      cli.show({ instance: name, app }, () => `${app} is no longer bound to ${name}.`);
    });
}

function parametersOf(pairs: readonly string[]): Record<string, string> {
  const cut = pairs.map((pair) => [pair.slice(0, Math.max(0, pair.indexOf('='))), pair.slice(pair.indexOf('=') + 1)]);
  if (cut.every(([name]) => name !== '')) return Object.fromEntries(cut) as Record<string, string>;
  throw new UsageError('Parameters are written name=value.', 'For example: --param size=small');
}
