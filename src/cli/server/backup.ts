/** `tancho server backup`: makes one now, or shows which there are. */
import type { BackupsShape } from '../../client/shapes.ts';
import type { Cli } from '../cli.ts';
import { table, when } from '../output.ts';

const MIB = 1024 ** 2;

export async function makeBackup(cli: Cli): Promise<void> {
  const client = await cli.client();
  await cli.during('Making a backup', (say) => client.backups.make({ say, signal: cli.context.signal }));
  const shown = await client.backups.list();
  cli.show(shown.backups[0] ?? null, () => `To restore it into an empty home: tancho server restore ${newest(shown)}`);
}

export async function listBackups(cli: Cli): Promise<void> {
  const client = await cli.client();
  const shown = await cli.during('Asking', () => client.backups.list());
  cli.show(shown, () => listText(shown));
}

function newest({ directory, backups }: BackupsShape): string {
  return `${directory}/${backups[0]?.name ?? ''}`;
}

function listText({ directory, next_at: next, keep, problem, tried_at, backups }: BackupsShape): string {
  if (directory === '')
    return 'No backups are made: set backup.directory in config.yaml to a directory on another disk.';
  const rows = backups.map(({ name, made_at, bytes, version }) => [
    name,
    when(made_at),
    `${Math.ceil(bytes / MIB)} MiB`,
    version,
  ]);
  const how = next === '' ? 'when somebody asks' : `the next one at ${when(next)}`;
  const failed = problem === '' ? [] : ['', `The last one (${when(tried_at)}) failed: ${problem}`];
  const list = rows.length === 0 ? 'There is none yet.' : table(['NAME', 'MADE', 'SIZE', 'VERSION'], rows);
  return [list, '', `In ${directory}, ${how}; the newest ${keep} are kept.`, ...failed].join('\n');
}
