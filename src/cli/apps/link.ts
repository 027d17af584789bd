import type { Command } from 'commander';
import type { Cli } from '../cli.ts';

export function registerLink(app: Command, cli: Cli): void {
  app
    .command('link')
    .description('Let an app reach the units of another at http://<app>.internal')
    .argument('<app>', 'the app that is to reach the other')
    .argument('<to>', 'the app that is reached')
    .addHelpText(
      'after',
      '\nThe app is restarted, without a failed request; the URL is then in its variable <TO>_URL. It takes access to both apps.',
    )
    .action(async (name: string, to: string) => {
      const { apps } = await cli.client();
      const { signal } = cli.context;
      await cli.during(`Linking ${name} to ${to}`, (say) => apps.link(name, to, { say, signal }));
      cli.show({ app: name, to }, () => `${name} reaches ${to} at http://${to}.internal.`);
    });
}

export function registerUnlink(app: Command, cli: Cli): void {
  app
    .command('unlink')
    .description('Let an app no longer reach the units of another')
    .argument('<app>', 'the app that reaches the other')
    .argument('<to>', 'the app that is reached')
    .action(async (name: string, to: string) => {
      const { apps } = await cli.client();
      const { signal } = cli.context;
      await cli.during(`Unlinking ${name} from ${to}`, (say) => apps.unlink(name, to, { say, signal }));
      cli.show({ app: name, to }, () => `${name} no longer reaches ${to}.`);
    });
}
