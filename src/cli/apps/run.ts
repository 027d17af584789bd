import { type Command, Option } from 'commander';
import { argvText } from '../../lib/argv-text.ts';
import type { Cli } from '../cli.ts';
import { appName } from '../git.ts';
import { APP_OPTION } from './app-option.ts';

export function registerRun(app: Command, cli: Cli): void {
  app
    .command('run')
    .description("Run a command once in an app's surroundings, beside its units; exits with its code")
    .argument('<command...>', 'the command, after --; one argument alone is given to the shell as it is')
    .option(...APP_OPTION)
    .option('--each', 'as many times as there are units, one after the other')
    // What other clients need to have it so.
    .addOption(new Option('--once').hideHelp())
    .addHelpText(
      'after',
      "\nExamples:\n  tancho app run -a shop -- node migrate.js\n  tancho app run -a shop -- 'ls | wc -l'",
    )
    .action(async (words: string[], options: { app?: string; each?: boolean }) => {
      const name = await appName(cli, options.app);
      const client = await cli.client();
      const { stdout, signal } = cli.context;
      const isJson = cli.options.json === true;
      const said: string[] = [];
      cli.exitCode = await client.apps.run(name, shellText(words), {
        once: options.each !== true,
        output: (text) => void (isJson ? said.push(text) : stdout.write(text)),
        signal,
      });
      if (isJson) cli.show({ app: name, exit_code: cli.exitCode, output: said.join('') }, () => '');
    });
}

/** The platform takes one text for a shell; several words are quoted so that they arrive as the words they are. */
function shellText(words: readonly string[]): string {
  const [only = ''] = words;
  return words.length === 1 ? only : argvText(words);
}
