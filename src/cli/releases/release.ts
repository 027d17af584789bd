import type { Command } from 'commander';
import type { ReleaseComparison, ReleaseShape } from '../../client/shapes.ts';
import { APP_OPTION } from '../apps/app-option.ts';
import type { Cli } from '../cli.ts';
import { appName } from '../git.ts';
import { table, when } from '../output.ts';

export function registerRelease(release: Command, cli: Cli): void {
  release
    .command('list')
    .description('List the releases of an app, newest first')
    .option(...APP_OPTION)
    .action(async (options: { app?: string }) => {
      const app = await appName(cli, options.app);
      const client = await cli.client();
      const found = await cli.during('Asking', () => client.releases.list(app));
      cli.show(found, () =>
        found.length === 0
          ? 'There is no release yet. To deploy: git push tancho HEAD:main'
          : table(['RELEASE', 'TIME', 'WHY', 'CODE', 'BY'], found.map(row)),
      );
    });
  release
    .command('compare')
    .description('Show what differs between two releases: code, variables, processes, limits and the rest')
    .argument('[to]', 'a release such as v7 (default: the one that serves)')
    .argument('[from]', 'the one it is compared with (default: the one before)')
    .option(...APP_OPTION)
    .addHelpText('after', '\nPrivate values are not shown, only that they differ.')
    .action(async (to: string | undefined, from: string | undefined, options: { app?: string }) => {
      const app = await appName(cli, options.app);
      const client = await cli.client();
      const asked = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
      const found = await cli.during('Comparing', () => client.releases.compare(app, asked));
      cli.show(found, () => describe(found));
    });
}

function row({ release, created_at: at, reason, commit, image, by, current }: ReleaseShape): string[] {
  return [`v${release}${current ? ' (serves)' : ''}`, when(at), reason, image === '' ? commit.slice(0, 10) : image, by];
}

function describe({ app, from, to, changes }: ReleaseComparison): string {
  const head = `${app}: v${from.release} -> v${to.release} (${to.reason}, ${when(to.created_at)}, by ${to.by})`;
  if (changes.length === 0) return `${head}\n\nNothing differs.`;
  const rows = changes.map(({ part, name, kind, before, after, private: isPrivate }) => [
    part,
    name,
    kind,
    isPrivate ? '(private)' : before,
    isPrivate ? '(private)' : after,
  ]);
  return `${head}\n\n${table(['PART', 'NAME', '', 'BEFORE', 'AFTER'], rows)}`;
}
