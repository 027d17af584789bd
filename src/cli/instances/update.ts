import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';

interface UpdateOptions {
  readonly description?: string;
  readonly tag?: readonly string[];
  readonly team?: string;
}

export function registerUpdate(instance: Command, cli: Cli): void {
  instance
    .command('update')
    .description('Change what is said of an instance, or the team that owns it')
    .argument('<instance>', 'name of the instance')
    .option('-t, --team <team>', 'the team that owns it, one of yours')
    .option('--description <text>', 'what it is for')
    .option('--tag <tag...>', 'words to find it by, instead of those it has')
    .action(async (name: string, { description, tag, team }: UpdateOptions) => {
      const change = {
        ...(description !== undefined && { description }),
        ...(tag !== undefined && { tags: tag }),
        ...(team !== undefined && { team }),
      };
      if (Object.keys(change).length === 0) throw new UsageError('Nothing to change.', 'tancho instance update --help');
      const client = await cli.client();
      await cli.during(`Changing ${name}`, () => client.instances.update(name, change));
      cli.show({ instance: name, ...change }, () => `${name} is changed.`);
    });
}
