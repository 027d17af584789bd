import type { Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import type { Event } from '../../client/shapes.ts';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { facts, printable, table, when } from '../output.ts';
import { registerVerification } from './verify.ts';

interface Period {
  readonly since?: string;
  readonly until?: string;
}

interface Filter {
  readonly app?: string;
  readonly by?: string;
  readonly failed?: boolean;
}

const WATCH_MS = 2_000;
/** Of a moment ago, where the end of an event is looked for that was under way. */
const WATCHED = 100;

export function registerEvent(event: Command, cli: Cli): void {
  filtered(event.command('list'))
    .description('Show who did what, and who was refused what, newest first')
    .option('--since <time>', 'only what began from then on: 10m, 2h, 7d ago, or 2026-03-04T05:06:07Z')
    .option('--until <time>', 'only what began before then')
    .option('-n, --count <count>', 'how many, at most 100', '30')
    .action(async (options: Filter & Period & { count: string }) => {
      if (!/^[0-9]{1,3}$/.test(options.count)) throw new UsageError('--count must be a whole number from 0 to 100.');
      const client = await cli.client();
      const { count, ...filter } = options;
      const events = await cli.during('Asking', () => client.events.list({ ...filter, limit: Number(count) }));
      const rows = events.map((one) => [when(one.StartTime), ...wordsOf(one), one.SourceIP]);
      const head = ['TIME', 'WHO', 'WHAT', 'ON', 'RESULT', 'FROM'];
      cli.show(events, () => (rows.length === 0 ? 'Nothing of that kind is recorded.' : table(head, rows)));
    });

  event
    .command('show')
    .description('Show one event, with what it changed')
    .argument('<event>', 'its ID, as "tancho event list --json" shows it')
    .action(async (id: string) => {
      const client = await cli.client();
      const one = await cli.during('Asking', () => client.events.info(id));
      cli.show(one, () => describe(one));
    });

  filtered(event.command('watch'))
    .description('Show who does what, as it happens')
    .action(async (options: Filter) => watch(cli, options));

  registerVerification(event, cli);
}

function filtered(command: Command): Command {
  return command
    .option('-a, --app <app>', 'only what concerns this app')
    .option('--by <email>', 'only of this user')
    .option('--failed', 'only what failed or was refused');
}

/** Each event once when it begins and once when it ends; what was before the first look is left out. */
async function watch(cli: Cli, { app, by, failed }: Filter): Promise<void> {
  const client = await cli.client();
  const { signal } = cli.context;
  let known: ReadonlyMap<string, boolean> | null = null;
  while (!signal.aborted) {
    const events = await client.events.list({ app, by, failed, limit: WATCHED });
    const before: ReadonlyMap<string, boolean> = known ?? new Map(events.map((one) => [one.UniqueID, one.Running]));
    for (const one of events.toReversed()) {
      if (before.get(one.UniqueID) === one.Running) continue;
      if (cli.options.json === true) cli.print(JSON.stringify(one));
      else cli.print(printable([when(one.Running ? one.StartTime : one.EndTime), ...wordsOf(one)].join('  ')));
    }
    known = new Map(events.map((one) => [one.UniqueID, one.Running]));
    await delay(WATCH_MS, undefined, { signal }).catch(() => undefined);
  }
}

function wordsOf({ Owner, Kind, Target, ...one }: Event): string[] {
  const result = one.Running
    ? 'under way'
    : one.Refused
      ? `refused: ${one.Error}`
      : one.Error === ''
        ? 'done'
        : one.Error;
  return [Owner.Name, Kind.Name, [Target.Type, Target.Value].filter((part) => part !== '').join(' '), result];
}

function describe(one: Event): string {
  const [who = '', what = '', on = '', result = ''] = wordsOf(one);
  const about = facts([
    ['Event', one.UniqueID],
    ['Who', who],
    ['Known by', one.Token === '' ? undefined : one.Token],
    ['From', one.SourceIP === '' ? undefined : one.SourceIP],
    ['What', what],
    ['On', on],
    ['Detail', one.Log === '' ? undefined : one.Log],
    ['Result', result],
    ['Began', when(one.StartTime)],
    ['Took', one.Running ? undefined : `${one.Duration} ms`],
    ['Deploy', one.Deploy === '' ? undefined : `${one.Deploy} (tancho deploy info ${one.Deploy})`],
  ]);
  if (one.Changes.length === 0) return about;
  const rows = one.Changes.map(({ Field, Before, After }) => [Field, Before ?? '', After ?? '']);
  return `${about}\n\n${table(['CHANGED', 'BEFORE', 'AFTER'], rows)}`;
}
