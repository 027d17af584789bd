import type { Command } from 'commander';
import type { AppsClient } from '../../client/apps.ts';
import type { Cli } from '../cli.ts';
import { CliError } from '../errors.ts';
import { appName } from '../git.ts';
import { APP_OPTION } from './app-option.ts';

interface Verb {
  readonly name: 'restart' | 'start' | 'stop';
  readonly description: string;
  readonly doing: string;
  readonly done: string;
  readonly process: string;
}

export function registerRestart(app: Command, cli: Cli): void {
  register(app, cli, {
    name: 'restart',
    description: 'Replace the units of an app by new ones, without a failed request',
    doing: 'Restarting',
    done: 'restarted',
    process: 'only the units of this process',
  });
}

export function registerStop(app: Command, cli: Cli): void {
  register(app, cli, {
    name: 'stop',
    description: 'End the units of an app; its code, address and settings stay',
    doing: 'Stopping',
    done: 'stopped',
    process: 'only this process',
  });
}

export function registerStart(app: Command, cli: Cli): void {
  register(app, cli, {
    name: 'start',
    description: 'Start what was stopped',
    doing: 'Starting',
    done: 'started',
    process: 'only this process',
  });
}

function register(app: Command, cli: Cli, verb: Verb): void {
  app
    .command(verb.name)
    .description(verb.description)
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .option('-p, --process <process>', verb.process)
    .action(async (named: string | undefined, options: { app?: string; process?: string }) => {
      const name = await appName(cli, options.app ?? named);
      const { apps } = await cli.client();
      const { process } = options;
      const act: AppsClient['restart'] = apps[verb.name];
      if (verb.name === 'restart' && process === undefined) await demandDeployed(apps, name);
      const what = process === undefined ? `App ${name}` : `Process ${process} of ${name}`;
      await cli.during(`${verb.doing} ${name}`, (say) =>
        act(name, { say, signal: cli.context.signal, ...(process === undefined ? {} : { process }) }),
      );
      cli.show({ app: name, ...(process === undefined ? {} : { process }) }, () => `${what} ${verb.done}.`);
    });
}

/** The platform has nothing against restarting what is not there; whoever types it wants to know. */
async function demandDeployed(apps: AppsClient, name: string): Promise<void> {
  const { deploys, Repository } = await apps.info(name);
  if (deploys > 0) return;
  const hint = `Push code to it first: git push ${Repository} HEAD:main`;
  throw new CliError(`App ${name} has not been deployed yet, there is nothing to restart.`, hint);
}
