import type { Command } from 'commander';
import { APP_OPTION } from '../apps/app-option.ts';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { appName } from '../git.ts';
import { pack } from './pack.ts';

/** Fits into a request's first line. */
const MAX_MESSAGE = 2_000;
/** So long nothing is said of an upload. */
const SILENCE_MS = 1_000;

/** Makes `command` the one that deploys what lies in this machine's directories, or an image. */
export function addUpload(command: Command, cli: Cli): Command {
  return command
    .argument(
      '[paths...]',
      'a directory, which becomes the top of the app, or several files and directories (default: this directory)',
    )
    .option(...APP_OPTION)
    .option('-m, --message <text>', 'why; kept with the deploy')
    .option('-i, --image <name>', 'deploy this image of a registry instead of files')
    .addHelpText(
      'after',
      '\nWhat git ignores is left out, and what .tanchoignore or .tsuruignore names.\n\nExample:\n  tancho deploy -a shop -m "new prices"\n  tancho deploy -a shop --image registry.example.com/team/shop:2',
    )
    .action((paths: string[], options: UploadOptions) =>
      options.image === undefined
        ? upload(cli, paths.length === 0 ? ['.'] : paths, options)
        : image(cli, options.image, paths, options),
    );
}

interface UploadOptions {
  readonly app?: string;
  readonly message?: string;
  readonly image?: string;
}

async function image(cli: Cli, name: string, paths: string[], options: UploadOptions): Promise<void> {
  if (paths.length > 0) throw new UsageError('Deploy either an image or files, not both.');
  if (options.message !== undefined) throw new UsageError('--message is kept with files only, not with an image.');
  const app = await appName(cli, options.app);
  const { signal } = cli.context;
  const client = await cli.client();
  await cli.during(`Deploying ${name} to ${app}`, (say) => client.deploys.image(app, name, { say, signal }));
  cli.show({ app, image: name }, () => `${app} is deployed.`);
}

async function upload(cli: Cli, paths: string[], options: UploadOptions): Promise<void> {
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
