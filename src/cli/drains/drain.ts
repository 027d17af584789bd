import { type Command, Option } from 'commander';
import type { DrainShape } from '../../client/shapes.ts';
import { APP_OPTION } from '../apps/app-option.ts';
import type { Cli } from '../cli.ts';
import { CliError, UsageError } from '../errors.ts';
import { appName } from '../git.ts';
import { facts, table } from '../output.ts';
import { confirm } from '../prompt.ts';

interface TargetOptions {
  readonly format?: string;
  /** `false`: none, by --no-headers. */
  readonly headers?: boolean;
  readonly header?: readonly string[];
}

const ID = ['<drain>', 'its ID, as "tancho drain list" shows it'] as const;
const FORMATS = ['syslog', 'ndjson', 'otlp', 'loki'];
const format = (): Option =>
  new Option('-f, --format <format>', 'how lines are written (default: syslog, or ndjson over HTTP)').choices(FORMATS);
const HEADER = [
  '--header <header...>',
  'sent with every request, such as "Authorization: Bearer ..."; kept secret, and given to no other receiver',
] as const;

export function registerDrain(drain: Command, cli: Cli): void {
  registerAdd(drain, cli);
  registerList(drain, cli);
  registerInfo(drain, cli);
  registerTest(drain, cli);
  registerUpdate(drain, cli);
  registerRemove(drain, cli);
}

function registerAdd(drain: Command, cli: Cli): void {
  drain
    .command('add')
    .description('Send what an app logs from now on to a receiver elsewhere')
    .argument('<url>', 'syslog+tls://host:6514, syslog://host:514, or https://host/path')
    .option(...APP_OPTION)
    .option('--all', 'what all apps log, in place of one; for admins')
    .addOption(format())
    .option(...HEADER)
    .action(async (url: string, { app, all, ...options }: TargetOptions & { app?: string; all?: boolean }) => {
      if (all === true && app !== undefined) throw new UsageError('--app and --all exclude each other.', 'Give one.');
      const owner = all === true ? '' : await appName(cli, app);
      const client = await cli.client();
      const made = await cli.during('Adding the drain', () =>
        client.drains.add({ app: owner, url, ...changeOf(options) }),
      );
      cli.show(
        made,
        () => `Drain ${made.id} to ${made.receiver} added. To send one line: tancho drain test ${made.id}`,
      );
    });
}

function registerList(drain: Command, cli: Cli): void {
  drain
    .command('list')
    .description('List the drains you may see, with how far each has sent')
    .option('-a, --app <app>', 'only those of this app')
    .action(async ({ app }: { app?: string }) => {
      const client = await cli.client();
      const all = await cli.during('Asking', () => client.drains.list(app));
      const rows = all.map((one) => [one.id, appOf(one), one.receiver, one.format, String(one.waiting), stateOf(one)]);
      cli.show(all, () =>
        all.length === 0
          ? 'There are no drains. To add one: tancho drain add <url> -a <app>'
          : table(['ID', 'APP', 'RECEIVER', 'FORMAT', 'WAITING', 'STATE'], rows),
      );
    });
}

function registerInfo(drain: Command, cli: Cli): void {
  drain
    .command('info')
    .description('Show a drain, with what went wrong last')
    .argument(...ID)
    .action(async (id: string) => {
      const client = await cli.client();
      const found = await cli.during('Asking', () => client.drains.info(id));
      cli.show(found, () => describe(found));
    });
}

function registerTest(drain: Command, cli: Cli): void {
  drain
    .command('test')
    .description('Send one line to the receiver, and show what it answers')
    .argument(...ID)
    .action(async (id: string) => {
      const client = await cli.client();
      const { delivered, answer } = await cli.during('Sending one line', () => client.drains.test(id));
      if (!delivered) throw new CliError(answer, 'Mend the receiver, or change the drain: tancho drain update');
      cli.show({ delivered, answer }, () => `One line was delivered: ${answer}`);
    });
}

function registerUpdate(drain: Command, cli: Cli): void {
  drain
    .command('update')
    .description('Change where a drain sends to; what it has not sent yet goes there')
    .argument(...ID)
    .option('--url <url>', 'the new address')
    .addOption(format())
    .option(...HEADER)
    .addOption(new Option('--no-headers', 'send no headers any more').conflicts('header'))
    .action(async (id: string, { url, ...options }: TargetOptions & { url?: string }) => {
      const change = { ...(url !== undefined && { url }), ...changeOf(options) };
      if (Object.keys(change).length === 0) {
        throw new UsageError('Nothing to change was given.', 'Give --url, --format, --header or --no-headers.');
      }
      const client = await cli.client();
      const changed = await cli.during('Changing the drain', () => client.drains.update(id, change));
      cli.show(changed, () => describe(changed));
    });
}

function registerRemove(drain: Command, cli: Cli): void {
  drain
    .command('remove')
    .description('Remove a drain; what it has not sent is not sent any more')
    .argument(...ID)
    .option('-y, --yes', 'do not ask')
    .action(async (id: string, { yes }: { yes?: boolean }) => {
      const question = async (): Promise<string> => {
        const { receiver, waiting } = await (await cli.client()).drains.info(id);
        return `Remove the drain ${id} to ${receiver}, with ${waiting} lines waiting?`;
      };
      if (yes !== true) await confirm(cli, question, '--yes');
      const client = await cli.client();
      await cli.during(`Removing ${id}`, () => client.drains.remove(id));
      cli.show({ id }, () => `Drain ${id} removed.`);
    });
}

function changeOf({ format, header, headers }: TargetOptions): { format?: string; headers?: Record<string, string> } {
  return {
    ...(format !== undefined && { format }),
    ...(header !== undefined && { headers: Object.fromEntries(header.map(split)) }),
    ...(headers === false && { headers: {} }),
  };
}

function split(header: string): [string, string] {
  const at = header.indexOf(':');
  if (at > 0) return [header.slice(0, at).trim(), header.slice(at + 1).trim()];
  throw new UsageError('That is no header.', 'Give its name, a colon, and its value: "Authorization: Bearer ...".');
}

function describe(one: DrainShape): string {
  return facts([
    ['Drain', one.id],
    ['App', appOf(one)],
    ['Receiver', one.receiver],
    ['Format', one.format],
    ['Headers', one.headers.length === 0 ? undefined : one.headers.join(', ')],
    ['State', stateOf(one)],
    ['Waiting', `${one.waiting} lines`],
    ['Lost', one.lost === 0 ? undefined : `${one.lost} lines, removed before they could be sent, or refused`],
    ['Last success', one.last_success_at === '' ? 'never' : one.last_success_at],
    ['Last error', one.last_error === '' ? undefined : `${one.last_error_at}: ${one.last_error}`],
    ['Added', `${one.created_at} by ${one.created_by}`],
  ]);
}

function appOf({ app }: DrainShape): string {
  return app === '' ? 'all apps' : app;
}

function stateOf({ failures, last_error, last_success_at }: DrainShape): string {
  if (failures > 0) return `failing (${failures}): ${last_error}`;
  return last_success_at === '' ? 'nothing sent yet' : 'well';
}
