import type { Command } from 'commander';
import type { NewWebhook, WebhookDelivery, WebhookShape } from '../../client/shapes.ts';
import { APP_OPTION } from '../apps/app-option.ts';
import type { Cli } from '../cli.ts';
import { CliError, UsageError } from '../errors.ts';
import { appName } from '../git.ts';
import { facts, table, when } from '../output.ts';
import { confirm } from '../prompt.ts';

const ID = ['<webhook>', 'its ID, as "tancho webhook list" shows it'] as const;
export const EVENTS = [
  ...['deploy.done', 'deploy.failed', 'unit.died', 'certificate.failing', 'quota.reached', 'disk.low'],
  ...['alert.firing', 'alert.resolved'],
];

export function registerWebhook(webhook: Command, cli: Cli): void {
  registerAdd(webhook, cli);
  registerList(webhook, cli);
  registerInfo(webhook, cli);
  registerTest(webhook, cli);
  registerDeliveries(webhook, cli);
  registerResend(webhook, cli);
  registerRemove(webhook, cli);
}

interface AddOptions {
  readonly app?: string;
  readonly team?: string;
  readonly user?: string;
  readonly all?: boolean;
  readonly event?: readonly string[];
}

function registerAdd(webhook: Command, cli: Cli): void {
  webhook
    .command('add')
    .description(
      'Have what happens reported to an address, and show the secret that its signatures are checked with, once',
    )
    .argument('<url>', 'such as https://hooks.example.com/tancho')
    .option(...APP_OPTION)
    .option('--team <team>', 'what happens to the apps of this team, in place of one app')
    .option('--user <email>', "what happens to the apps of this user's teams")
    .option('--all', 'what happens on the platform; for admins')
    .option('-e, --event <event...>', `only these (default: all): ${EVENTS.join(', ')}`)
    .action(async (url: string, options: AddOptions) => {
      const owner = await ownerOf(cli, options);
      const client = await cli.client();
      const body = { url, ...owner, ...(options.event !== undefined && { events: [...options.event] }) };
      const made = await cli.during('Adding the webhook', () => client.webhooks.add(body));
      cli.show(made, () =>
        [
          `Webhook ${made.id} to ${made.receiver} added. To send one message: tancho webhook test ${made.id}`,
          `Its secret, which is not shown again: ${made.secret}`,
        ].join('\n'),
      );
    });
}

async function ownerOf(cli: Cli, { app, team, user, all }: AddOptions): Promise<Omit<NewWebhook, 'url' | 'events'>> {
  const given = [app, team, user, all === true ? '' : undefined].filter((one) => one !== undefined);
  if (given.length > 1) throw new UsageError('--app, --team, --user and --all exclude each other.', 'Give one.');
  if (all === true) return {};
  if (team !== undefined) return { team };
  return user !== undefined ? { user } : { app: await appName(cli, app) };
}

function registerList(webhook: Command, cli: Cli): void {
  webhook
    .command('list')
    .description('List the webhooks you may see, with what became of the last message')
    .action(async () => {
      const client = await cli.client();
      const all = await cli.during('Asking', () => client.webhooks.list());
      const rows = all.map((one) => [one.id, aboutOf(one), one.receiver, eventsOf(one), stateOf(one)]);
      cli.show(all, () =>
        all.length === 0
          ? 'There are no webhooks. To add one: tancho webhook add <url> -a <app>'
          : table(['ID', 'ABOUT', 'RECEIVER', 'EVENTS', 'LAST'], rows),
      );
    });
}

function registerInfo(webhook: Command, cli: Cli): void {
  webhook
    .command('info')
    .description('Show a webhook')
    .argument(...ID)
    .action(async (id: string) => {
      const client = await cli.client();
      const one = await cli.during('Asking', () => client.webhooks.info(id));
      const lines: [string, string][] = [
        ['Webhook', one.id],
        ['About', aboutOf(one)],
        ['Receiver', one.receiver],
        ['Events', eventsOf(one)],
        ['Last message', stateOf(one)],
        ['Added', `${one.created_at} by ${one.created_by}`],
      ];
      cli.show(one, () => facts(lines));
    });
}

function registerTest(webhook: Command, cli: Cli): void {
  webhook
    .command('test')
    .description('Send one message to the receiver, and show what it answers')
    .argument(...ID)
    .action(async (id: string) => {
      const client = await cli.client();
      const sent = await cli.during('Sending one message', () => client.webhooks.test(id));
      if (sent.state === 'failed') {
        throw new CliError(
          `The message was not taken: ${answerOf(sent)}`,
          `Mend the receiver: see "tancho webhook info ${id}"`,
        );
      }
      cli.show(sent, () => `One message was delivered: ${answerOf(sent)}`);
    });
}

function registerDeliveries(webhook: Command, cli: Cli): void {
  webhook
    .command('deliveries')
    .description('Show the newest messages to the receiver, with its answers')
    .argument(...ID)
    .action(async (id: string) => {
      const client = await cli.client();
      const all = await cli.during('Asking', () => client.webhooks.deliveries(id));
      const rows = all.map((one) => [
        one.id,
        when(one.created_at),
        one.event,
        one.app,
        one.state,
        String(one.attempts),
        answerOf(one),
      ]);
      cli.show(all, () =>
        all.length === 0
          ? 'Nothing has been sent yet.'
          : table(['ID', 'TIME', 'EVENT', 'APP', 'STATE', 'ATTEMPTS', 'ANSWER'], rows),
      );
    });
}

function registerResend(webhook: Command, cli: Cli): void {
  webhook
    .command('resend')
    .description('Send one message again as it was')
    .argument(...ID)
    .argument('<delivery>', 'its ID, as "tancho webhook deliveries" shows it')
    .action(async (id: string, delivery: string) => {
      const client = await cli.client();
      const again = await cli.during('Asking', () => client.webhooks.resend(id, delivery));
      cli.show(again, () => `The message is sent again. To see the answer: tancho webhook deliveries ${id}`);
    });
}

function registerRemove(webhook: Command, cli: Cli): void {
  webhook
    .command('remove')
    .description('Remove a webhook; what waits is not sent any more')
    .argument(...ID)
    .option('-y, --yes', 'do not ask')
    .action(async (id: string, { yes }: { yes?: boolean }) => {
      const question = async (): Promise<string> => {
        const { receiver } = await (await cli.client()).webhooks.info(id);
        return `Remove the webhook ${id} to ${receiver}, with all its deliveries?`;
      };
      if (yes !== true) await confirm(cli, question, '--yes');
      const client = await cli.client();
      await cli.during(`Removing ${id}`, () => client.webhooks.remove(id));
      cli.show({ id }, () => `Webhook ${id} removed.`);
    });
}

function aboutOf({ scope, owner }: WebhookShape): string {
  return scope === 'platform' ? 'the platform' : `${scope} ${owner}`;
}

function eventsOf({ events }: WebhookShape): string {
  return events.length === 0 ? 'all' : events.join(', ');
}

function stateOf({ last_state, last_answer }: WebhookShape): string {
  if (last_state === '') return 'nothing sent yet';
  return last_answer === '' ? last_state : `${last_state}: ${last_answer}`;
}

function answerOf({ status, answer }: WebhookDelivery): string {
  return [status === 0 ? '' : String(status), answer].filter((part) => part !== '').join(' ');
}
