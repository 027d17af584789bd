import type { Command } from 'commander';
import type { Client } from '../../client/client.ts';
import { APP_OPTION } from '../apps/app-option.ts';
import type { Cli } from '../cli.ts';
import { CliError, UsageError } from '../errors.ts';
import { appName } from '../git.ts';
import { readFileOrInput, readInput } from '../input.ts';
import { printable } from '../output.ts';
import { envFileValue, readEnvFile } from './env-file.ts';

interface SetOptions {
  readonly app?: string;
  readonly file?: string;
  readonly private?: boolean;
  readonly public?: boolean;
  readonly restart: boolean;
}

export function registerEnv(env: Command, cli: Cli): void {
  env
    .command('get')
    .description('Show the environment of an app')
    .argument('[names...]', 'only these variables')
    .option(...APP_OPTION)
    .option('--reveal', 'show the values of private variables too')
    .action((names: string[], options: { app?: string; reveal?: boolean }) => get(cli, names, options));
  env
    .command('set')
    .description('Set variables; the app restarts once with all of them')
    .argument('[KEY=VALUE...]', 'the variables; KEY=- takes the value from standard input')
    .option(...APP_OPTION)
    .option('-f, --file <file>', 'a file with one KEY=VALUE per line, such as .env; - is standard input')
    .option('-p, --private', 'keep the values out of logs and lists')
    .option('--public', 'show the values, also where they were private')
    .option('--no-restart', 'let them take effect with the next restart')
    .addHelpText('after', '\nA variable that is private already is set with --private or --public only.')
    .action((pairs: string[], options: SetOptions) => set(cli, pairs, options));
  env
    .command('unset')
    .description('Remove variables')
    .argument('<names...>', 'the variables')
    .option(...APP_OPTION)
    .option('--no-restart', 'let it take effect with the next restart')
    .action(async (names: string[], options: { app?: string; restart: boolean }) => {
      const name = await appName(cli, options.app);
      const client = await cli.client();
      await cli.during(`Removing from ${name}`, (say) =>
        client.env.unset(name, names, { noRestart: !options.restart, say, signal: cli.context.signal }),
      );
      cli.show({ app: name, unset: names }, () => `${name} has no ${names.join(', ')} any more.`);
    });
}

async function get(cli: Cli, names: readonly string[], options: { app?: string; reveal?: boolean }): Promise<void> {
  const name = await appName(cli, options.app);
  const client = await cli.client();
  const all = await cli.during('Asking', () => client.env.get(name, names.length === 0 ? undefined : names));
  const shown = all.map((one) => (one.public || options.reveal === true ? one : { ...one, value: '***' }));
  const missing = names.filter((one) => !all.some((found) => found.name === one));
  if (missing.length > 0) {
    cli.context.stderr.write(`Not set: ${missing.map(printable).join(', ')}\n`);
    cli.exitCode = 1;
    if (all.length === 0 && cli.options.json !== true) return;
  }
  cli.show(shown, () => {
    if (shown.length === 0) return `${name} has no variables.`;
    // What is revealed can be given to `env set --file`: no note stands beside it.
    const isHidden = (one: { public: boolean }): boolean => !one.public && options.reveal !== true;
    const note = ({ managedBy }: { managedBy?: string }): string =>
      managedBy === undefined ? '  (private)' : `  (private, set by ${managedBy})`;
    return shown
      .map((one) => `${one.name}=${printable(envFileValue(one.value))}${isHidden(one) ? note(one) : ''}`)
      .join('\n');
  });
}

async function set(cli: Cli, pairs: readonly string[], options: SetOptions): Promise<void> {
  if (pairs.length === 0 && options.file === undefined) {
    throw new UsageError('No variable is given.', 'For example: tancho env set -a shop COLOUR=red');
  }
  if (options.private === true && options.public === true) {
    throw new UsageError('Values are either private or public, not both.', 'Set them in two commands.');
  }
  const name = await appName(cli, options.app);
  const values = await valuesOf(cli, pairs, options.file);
  const client = await cli.client();
  if (options.private !== true && options.public !== true) await demandNonePrivate(cli, client, name, values);
  const change = { noRestart: !options.restart, private: options.private === true, signal: cli.context.signal };
  await cli.during(`Setting variables of ${name}`, (say) => client.env.set(name, values, { ...change, say }));
  const keys = Object.keys(values);
  cli.show({ app: name, set: keys }, () => {
    const later = options.restart ? '' : ` They take effect with: tancho app restart -a ${name}`;
    return `Set ${keys.join(', ')} of ${name}.${later}`;
  });
}

/** What somebody has hidden is not shown to all because one option was forgotten. */
async function demandNonePrivate(cli: Cli, client: Client, app: string, values: Readonly<Record<string, string>>) {
  const before = await cli.during('Asking', () => client.env.get(app));
  const hidden = before.filter((one) => !one.public && one.managedBy === undefined && Object.hasOwn(values, one.name));
  if (hidden.length === 0) return;
  const names = hidden.map((one) => printable(one.name)).join(', ');
  throw new CliError(
    `${names} ${hidden.length === 1 ? 'is' : 'are'} private in ${app}, and would be shown in logs and lists.`,
    'To keep what is set here private, add --private; to show it, --public.',
  );
}

async function valuesOf(cli: Cli, pairs: readonly string[], file: string | undefined): Promise<Record<string, string>> {
  const values = file === undefined ? new Map<string, string>() : readEnvFile(await readFileOrInput(cli, file), file);
  let fromInput = file === '-' ? 'the file' : '';
  for (const pair of pairs) {
    const cut = pair.indexOf('=');
    const key = pair.slice(0, Math.max(cut, 0));
    // The text is not repeated: it may be a secret whose name was forgotten.
    if (cut < 1)
      throw new UsageError('Variables are written KEY=VALUE.', 'For example: tancho env set -a shop COLOUR=red');
    if (values.has(key)) throw new UsageError(`${key} is given twice.`);
    const value = pair.slice(cut + 1);
    if (value === '-' && fromInput !== '') {
      throw new UsageError(`Standard input is already the value of ${fromInput}.`, 'Use KEY=- once only.');
    }
    if (value === '-') fromInput = key;
    values.set(key, value === '-' ? (await readInput(cli)).replace(/\r?\n$/, '') : value);
  }
  return Object.fromEntries(values);
}
