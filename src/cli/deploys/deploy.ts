import type { Command } from 'commander';
import type { DeployInfo, DeploySummary } from '../../client/shapes.ts';
import type { Cli } from '../cli.ts';
import { APP_OPTION } from '../apps/app-option.ts';
import { appName } from '../git.ts';
import { facts, howLong, printableOutput, table, when } from '../output.ts';
import { UsageError } from '../errors.ts';
import { addUpload } from './upload.ts';

export function registerDeploy(deploy: Command, cli: Cli): void {
  addUpload(
    deploy.command('upload', { isDefault: true }).description('Deploy a directory: "upload" may be left out'),
    cli,
  );
  deploy
    .command('list')
    .description('List deploys, newest first')
    .option(...APP_OPTION)
    .option('--all', 'those of all your apps')
    .option('-n, --limit <count>', 'how many', '20')
    .addHelpText('after', '\nReleases with a * can be gone back to: tancho deploy rollback <release>')
    .action((options: { app?: string; all?: boolean; limit: string }) => list(cli, options));
  deploy
    .command('info')
    .description('Show one deploy and its log')
    .argument('<id>', 'the deploy, as "tancho deploy list" shows it')
    .action(async (id: string) => {
      const client = await cli.client();
      const found = await cli.during('Asking', () => client.deploys.info(id));
      cli.show(found, () => describe(found));
    });
  deploy
    .command('cancel')
    .description('Cancel a deploy that waits, builds or starts; what serves stays as it is')
    .argument('[id]', 'the deploy, as "tancho deploy list" shows it (default: the one that goes on)', '')
    .option(...APP_OPTION)
    .action((id: string, options: { app?: string }) => cancel(cli, id, options));
  deploy
    .command('rollback')
    .description('Go back to an older release: its code, environment and processes')
    .argument('[release]', 'a release such as v3, or the ID of a deploy (default: what served before)', 'previous')
    .option(...APP_OPTION)
    .action(async (release: string, options: { app?: string }) => {
      const app = await appName(cli, options.app);
      const client = await cli.client();
      await cli.during(`Going back to ${release}`, (say) =>
        client.deploys.rollback(app, release, { say, signal: cli.context.signal }),
      );
      cli.show({ app, release }, () => `${app} is back at ${release === 'previous' ? 'what served before' : release}.`);
    });
}

async function cancel(cli: Cli, id: string, options: { app?: string }): Promise<void> {
  const app = await appName(cli, options.app);
  const client = await cli.client();
  const found = await cli.during('Cancelling', () => client.deploys.cancel(app, id));
  cli.show(found, () => `Deploy ${found.ID} of ${found.App} is cancelled; what served before serves on.`);
}

async function list(cli: Cli, options: { app?: string; all?: boolean; limit: string }): Promise<void> {
  const limit = Number(options.limit);
  if (!Number.isSafeInteger(limit) || limit < 1) throw new UsageError('--limit must be a whole number from 1 on.');
  const app = options.all === true ? {} : { app: await appName(cli, options.app) };
  const client = await cli.client();
  const deploys = await cli.during('Asking', () => client.deploys.list({ ...app, limit }));
  cli.show(deploys, () =>
    deploys.length === 0
      ? 'There are no deploys yet. To deploy: git push tancho HEAD:main'
      : table(['ID', 'APP', 'RELEASE', 'TIME', 'TOOK', 'CODE', 'RESULT'], deploys.map(row)),
  );
}

function row(deploy: DeploySummary): string[] {
  const { ID, App, Timestamp, Duration } = deploy;
  return [ID, App, version(deploy), when(Timestamp), howLong(Duration), code(deploy), result(deploy)];
}

/** The beginning of a commit, or the last part of an image's name. */
function code({ Commit, Image = '' }: DeploySummary): string {
  if (Commit !== '' || !Image.includes('@')) return Commit.slice(0, 10);
  return Image.replace(/@.*$/, '').split('/').at(-1) ?? '';
}

/** With a mark where it can be gone back to. */
function version({ Release, CanRollback }: DeploySummary): string {
  if (Release === undefined || Release === 0) return '';
  return `v${Release}${CanRollback === true ? ' *' : ''}`;
}

/** The error when there is one, else the state: a deploy may still be going on. */
function result({ Error: error, State: state, WaitsFor: waitsFor = '' }: DeploySummary): string {
  if (waitsFor !== '') return waitsFor;
  return error === '' ? (state ?? 'done') : error;
}

function describe(deploy: DeployInfo): string {
  const head = facts([
    ['Deploy', deploy.ID],
    ['App', deploy.App],
    ['Time', when(deploy.Timestamp)],
    ['Took', howLong(deploy.Duration)],
    ['Commit', deploy.Commit],
    ['Origin', deploy.Origin],
    ['By', deploy.User],
    ['Image', deploy.Image],
    ['Release', deploy.Release === undefined || deploy.Release === 0 ? undefined : `v${deploy.Release}`],
    ['Rollback', deploy.CanRollback ? `tancho deploy rollback ${deploy.ID} -a ${deploy.App}` : undefined],
    ['Result', result(deploy)],
    ['Warning', deploy.Warning],
  ]);
  return deploy.Log === '' ? head : `${head}\n\n${printableOutput(deploy.Log).trimEnd()}`;
}
