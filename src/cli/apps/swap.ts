import type { Command } from 'commander';
import type { Cli } from '../cli.ts';

export function registerSwap(app: Command, cli: Cli): void {
  app
    .command('swap')
    .description('Exchange the addresses of two apps; doing it again undoes it')
    .argument('<app1>', 'an app')
    .argument('<app2>', 'the app that is to answer at its address')
    .option('--force', 'also when they differ in platform or number of units')
    .option('--cname-only', 'only the extra host names')
    .action(async (app1: string, app2: string, options: { force?: boolean; cnameOnly?: boolean }) => {
      const client = await cli.client();
      await cli.during(`Swapping ${app1} and ${app2}`, () => client.apps.swap(app1, app2, options));
      cli.show({ app1, app2 }, () =>
        options.cnameOnly === true
          ? `The extra host names of ${app1} and ${app2} have changed places.`
          : `${app1} and ${app2} have changed places.`,
      );
    });
}
