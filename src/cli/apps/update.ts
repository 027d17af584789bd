import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { appName } from '../git.ts';
import { APP_OPTION } from './app-option.ts';

interface UpdateOptions {
  readonly app?: string;
  readonly description?: string;
  readonly platform?: string;
  readonly team?: string;
  readonly pool?: string;
  readonly plan?: string;
  readonly startCommand?: readonly string[];
  readonly buildCommand?: string;
  readonly root?: string;
  readonly keepDevPackages?: string;
}

export function registerUpdate(app: Command, cli: Cli): void {
  app
    .command('update')
    .description('Change what is known of an app')
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .option('-d, --description <text>', 'what it is')
    .option('--platform <platform>', 'what it is written in, from the next deploy on')
    .option('-t, --team <team>', 'the team that owns it, one of yours')
    .option('--pool <pool>', 'the pool it is in')
    .option('--plan <plan>', 'what its units may use; they are replaced')
    .option(
      '--start-command <process=command...>',
      'what a process runs (without a name: web); empty: what the source says',
    )
    .option('--build-command <command>', "what builds it, in place of the platform's steps; empty: those again")
    .option('--root <directory>', 'the directory of the source that is the app; empty: all of it')
    .option('--keep-dev-packages <yes|no>', 'whether development packages stay in what runs')
    .addHelpText('after', '\nCommands, root and kept packages are in effect with the next deploy.')
    .action(async (named: string | undefined, options: UpdateOptions) => {
      const { app: option, team, plan, startCommand, keepDevPackages, ...fields } = options;
      const change = {
        ...fields,
        ...(team === undefined ? {} : { teamOwner: team }),
        ...(startCommand === undefined ? {} : { startCommands: commandsOf(startCommand) }),
        ...(keepDevPackages === undefined ? {} : { keepDevPackages: yesOrNo(keepDevPackages) }),
      };
      const isEmpty = Object.keys(change).length === 0;
      if (isEmpty && plan === undefined) throw new UsageError('Nothing to change.', 'tancho app update --help');
      const name = await appName(cli, option ?? named);
      const client = await cli.client();
      await cli.during(`Changing ${name}`, async (say) => {
        if (!isEmpty) await client.apps.update(name, change);
        if (plan !== undefined) await client.apps.changePlan(name, plan, { say });
      });
      cli.show({ app: name, ...change, ...(plan === undefined ? {} : { plan }) }, () => `App ${name} changed.`);
    });
}

/** `worker=node worker.js`; where no name in small letters stands before the sign, it is a command of web. */
function commandsOf(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, process, command] = /^([a-z][A-Za-z0-9_-]*)=(.*)$/s.exec(text) ?? [];
      return process === undefined ? ['web', text] : [process, command ?? ''];
    }),
  );
}

function yesOrNo(text: string): boolean {
  if (text === 'yes' || text === 'true') return true;
  if (text === 'no' || text === 'false') return false;
  throw new UsageError('--keep-dev-packages is yes or no.', 'tancho app update --help');
}
