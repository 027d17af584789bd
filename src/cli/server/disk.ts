/** Who holds what on the disk of the platform: app by app, then what belongs to none. */
import type { DiskReport } from '../../client/shapes.ts';
import { byteSize } from '../byte-size.ts';
import type { Cli } from '../cli.ts';
import { table } from '../output.ts';

/** Of an app, in the order of the columns. */
const KINDS = ['code', 'build cache', 'repository', 'unit', 'volume'] as const;

export async function showDisk(cli: Cli): Promise<void> {
  const client = await cli.client();
  const report = await cli.during('Counting files', () => client.disk());
  cli.show(report, () => describeDisk(report));
}

export function describeDisk({
  free_bytes: free,
  total_bytes: total,
  free_files: freeFiles,
  total_files: totalFiles,
  reserve_bytes: reserve,
  holders,
}: DiskReport): string {
  const apps = [...new Set(holders.map(({ app }) => app))].filter((app) => app !== '');
  const rows = apps.map((app) => {
    const held = KINDS.map((kind) => sum(holders.filter((one) => one.app === app && one.kind === kind)));
    return { app, held, total: held.reduce((all, bytes) => all + bytes, 0) };
  });
  rows.sort((a, b) => b.total - a.total);
  const others = holders.filter(({ app }) => app === '').map(({ kind, name, bytes }) => [kind, name, byteSize(bytes)]);
  const files = totalFiles > 0 ? `, and room for ${freeFiles} of ${totalFiles} files` : '';
  const space =
    free < 0 ? 'How much is free is not known.' : `${byteSize(free)} of ${byteSize(total)} are free${files}.`;
  const parts = [
    `${space}${holding(free < 0 ? 0 : total - free, sum(holders))} With less than ${byteSize(reserve)} free no new code is taken.`,
    rows.length === 0
      ? ''
      : table(
          ['APP', 'TOTAL', 'CODE', 'BUILD CACHE', 'REPOSITORY', 'UNITS', 'VOLUMES'],
          rows.map((row) => [row.app, byteSize(row.total), ...row.held.map(byteSize)]),
        ),
    others.length === 0 ? '' : table(['OF NO APP', 'NAME', 'SIZE'], others),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** What else is on the disk explains most of it where the platform is not alone there. */
function holding(used: number, own: number): string {
  return used <= own
    ? ''
    : ` The platform and its apps hold ${byteSize(own)}, what else is there ${byteSize(used - own)}.`;
}

function sum(holders: readonly { readonly bytes: number }[]): number {
  return holders.reduce((all, { bytes }) => all + bytes, 0);
}
