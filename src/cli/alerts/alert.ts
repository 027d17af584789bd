import type { Command } from 'commander';
import type { AlertsShape } from '../../client/shapes.ts';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { table, when } from '../output.ts';

export const RULES = ['app_down', 'restart_loop', 'error_rate', 'disk_low', 'certificate', 'backup'];

export function registerAlert(alert: Command, cli: Cli): void {
  registerList(alert, cli);
  registerShow(alert, cli);
  registerSet(alert, cli);
  registerTest(alert, cli);
}

function registerList(alert: Command, cli: Cli): void {
  alert
    .command('list')
    .description('List what is going on, and what was in the last seven days')
    .action(async () => {
      const client = await cli.client();
      const { alerts } = await cli.during('Asking', () => client.alerts.show());
      const rows = alerts.map((one) => [
        one.rule,
        one.subject === '' ? 'the server' : one.subject,
        one.state,
        when(one.since),
        one.resolved_at === '' ? '' : when(one.resolved_at),
        one.message,
      ]);
      cli.show(alerts, () =>
        alerts.length === 0
          ? 'Nothing is wrong, and nothing was.'
          : table(['RULE', 'ABOUT', 'STATE', 'SINCE', 'UNTIL', 'MESSAGE'], rows),
      );
    });
}

function registerShow(alert: Command, cli: Cli): void {
  alert
    .command('show')
    .description('Show the rules, and who gets letters')
    .action(async () => {
      const client = await cli.client();
      const shown = await cli.during('Asking', () => client.alerts.show());
      cli.show(shown, () => rulesText(shown));
    });
}

interface SetOptions {
  readonly threshold?: string;
  readonly minutes?: string;
  readonly on?: boolean;
  readonly off?: boolean;
  readonly mail?: readonly string[];
}

/** In place of an address. */
const NOBODY = 'none';

function registerSet(alert: Command, cli: Cli): void {
  alert
    .command('set')
    .description('Change a rule, or who gets letters')
    .argument('[rule]', `one of ${RULES.join(', ')}`)
    .option('--threshold <number>', 'from when on it is wrong, in the unit that "tancho alert show" names')
    .option('--minutes <number>', 'how long it lasts before anybody is informed, and is over before that counts')
    .option('--on', 'look for it')
    .option('--off', 'do not look for it')
    .option('--mail <email...>', `who gets letters, in place of those before; "${NOBODY}" for nobody`)
    .action(async (rule: string | undefined, options: SetOptions) => {
      const change = changeOf(rule, options);
      const client = await cli.client();
      const shown = await cli.during('Changing the alerts', () => client.alerts.set(change));
      cli.show(shown, () => rulesText(shown));
    });
}

function changeOf(rule: string | undefined, options: SetOptions) {
  const { on = false, off = false, threshold, minutes, mail } = options;
  if (on && off) throw new UsageError('--on and --off exclude each other.', 'Give one.');
  const change = {
    ...(on && { on: true }),
    ...(off && { on: false }),
    ...(threshold !== undefined && { threshold: whole('--threshold', threshold) }),
    ...(minutes !== undefined && { minutes: whole('--minutes', minutes) }),
  };
  const isOfRule = Object.keys(change).length > 0;
  if (isOfRule && rule === undefined) throw new UsageError('Which rule?', `Name one of ${RULES.join(', ')}.`);
  if (!isOfRule && mail === undefined) {
    throw new UsageError('Nothing is to be changed.', 'Give --threshold, --minutes, --on, --off or --mail.');
  }
  return {
    ...(rule !== undefined && { rules: { [rule]: change } }),
    ...(mail !== undefined && { mail: mail.filter((address) => address !== NOBODY) }),
  };
}

function whole(option: string, text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new UsageError(`${option} must be a whole number.`);
  return Number(text);
}

function registerTest(alert: Command, cli: Cli): void {
  alert
    .command('test')
    .description('Send what an alert would, and show to whom')
    .action(async () => {
      const client = await cli.client();
      const sent = await cli.during('Sending', () => client.alerts.test());
      const letters = sent.mailed.length === 0 ? 'no letters' : `letters to ${sent.mailed.join(', ')}`;
      cli.show(sent, () => `Sent: ${letters}, messages to ${sent.webhooks} webhooks.`);
    });
}

function rulesText({ rules, mail }: AlertsShape): string {
  const rows = rules.map(({ name, on, threshold, unit, minutes, about }) => [
    name,
    on ? 'on' : 'off',
    `${threshold} ${unit}`,
    String(minutes),
    about,
  ]);
  const letters = mail.length === 0 ? 'Nobody gets letters.' : `Letters go to ${mail.join(', ')}.`;
  const hooks = 'Webhooks get alert.firing and alert.resolved.';
  return `${table(['RULE', '', 'THRESHOLD', 'MINUTES', 'ABOUT'], rows)}\n\n${letters} ${hooks}`;
}
