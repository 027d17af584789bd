import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { appName } from '../git.ts';
import { pack } from './pack.ts';

/** Fits into a request's first line. */
const MAX_MESSAGE = 2_000;
/** So long nothing is said of an upload. */
const SILENCE_MS = 1_000;

/** Makes `command` the one that deploys what lies in this machine's directories. */
export function addUpload(command: Command, cli: Cli): Command {
  return command
    .argument(
      '[paths...]',
      'a directory, which becomes the top of the app, or several files and directories (default: this directory)',
    )
    .option('-a, --app <app>', 'the app (default: that of the git remote "tancho")')
    .option('-m, --message <text>', 'why; kept with the deploy')
    .addHelpText(
      'after',
      '\nWhat git ignores is left out, and what .tanchoignore or .tsuruignore names.\n\nExample:\n  tancho deploy -a shop -m "new prices"',
    )
    .action((paths: string[], options: { app?: string; message?: string }) =>
      upload(cli, paths.length === 0 ? ['.'] : paths, options),
    );
}

async function upload(cli: Cli, paths: string[], options: { app?: string; message?: string }): Promise<void> {
  const { message = '' } = options;
  if (message.length > MAX_MESSAGE) throw new UsageError(`--message has at most ${MAX_MESSAGE} characters.`);
  const app = await appName(cli, options.app);
  const { signal, cwd } = cli.context;
  const client = await cli.client();
  const { files, archive } = await pack(cwd, paths);
  try {
    await cli.during(`Deploying ${app}`, async (say) => {
      const slow = setTimeout(
        () => say(`-----> Sending ${files.length} file${files.length === 1 ? '' : 's'}`),
        SILENCE_MS,
      );
      const heard = (line: string): void => {
        clearTimeout(slow);
        say(line);
      };
      await client.deploys.upload(app, { archive, message }, { say: heard, signal }).finally(() => clearTimeout(slow));
    });
  } finally {
    archive.destroy();
  }
  cli.show({ app, files: files.length }, () => `${app} is deployed.`);
}
