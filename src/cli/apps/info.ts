import type { Command } from 'commander';
import { spawn } from 'node:child_process';
import type { AppInfo, UnitShape } from '../../client/shapes.ts';
import type { Cli } from '../cli.ts';
import { CliError } from '../errors.ts';
import { appName } from '../git.ts';
import { facts, printable, table } from '../output.ts';
import { APP_OPTION } from './app-option.ts';

export function registerList(app: Command, cli: Cli): void {
  app
    .command('list')
    .description('List your apps')
    .option('--name <text>', 'only those with this in their name')
    .option('--platform <platform>', 'only those of this platform')
    .option('-t, --team <team>', 'only those that this team owns')
    .option('--pool <pool>', 'only those in this pool')
    .action(async ({ team, ...rest }: { name?: string; platform?: string; team?: string; pool?: string }) => {
      const filter = { ...rest, ...(team === undefined ? {} : { teamOwner: team }) };
      const client = await cli.client();
      const apps = await cli.during('Asking', () => client.apps.list(filter));
      cli.show(apps, () =>
        apps.length === 0 && Object.keys(filter).length === 0
          ? 'You have no apps yet. To make one: tancho app create <name>'
          : table(
              ['NAME', 'STATE', 'UNITS', 'ADDRESS'],
              apps.map(({ Name, State = '', Units, Ip, url }) => [
                Name,
                State,
                summary(Units),
                url ?? (Ip === '' ? '' : `http://${Ip}`),
              ]),
            ),
      );
    });
}

export function registerInfo(app: Command, cli: Cli): void {
  app
    .command('info')
    .description('Show an app and its units')
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .action(async (named: string | undefined, options: { app?: string }) => {
      const name = await appName(cli, options.app ?? named);
      const client = await cli.client();
      const found = await cli.during('Asking', () => client.apps.info(name));
      cli.show(found, () => describe(found));
    });
}

export function registerOpenUrl(app: Command, cli: Cli): void {
  app
    .command('open-url')
    .description('Print the address of an app')
    .argument('[app]', APP_OPTION[1])
    .option(...APP_OPTION)
    .option('--browser', 'open it in the browser too')
    .action(async (named: string | undefined, options: { app?: string; browser?: boolean }) => {
      const name = await appName(cli, options.app ?? named);
      const client = await cli.client();
      const url = urlOf(await cli.during('Asking', () => client.apps.info(name)));
      cli.show({ url }, () => url);
      if (options.browser === true) await openBrowser(url);
    });
}

function urlOf(app: AppInfo): string {
  const url = knownUrl(app);
  if (url !== undefined) return url;
  throw new CliError(`The platform does not say where ${app.Name} answers.`, 'Ask the operator of the platform.');
}

function knownUrl({ Ip, url }: AppInfo): string | undefined {
  if (url !== undefined) return url;
  return Ip === undefined || Ip === '' ? undefined : `http://${Ip}`;
}

function openBrowser(url: string): Promise<void> {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  return new Promise((resolve, reject) => {
    const child = spawn(program, [url], { stdio: 'ignore', detached: true });
    child.once('spawn', () => {
      child.unref();
      resolve();
    });
    child.once('error', () =>
      reject(new CliError(`${program} cannot be started.`, `Open the address yourself: ${url}`)),
    );
  });
}

/** `2 started`, `1 started, 1 error`. */
function summary(units: readonly UnitShape[]): string {
  const counts = new Map<string, number>();
  for (const { State } of units) counts.set(State, (counts.get(State) ?? 0) + 1);
  return counts.size === 0 ? '0' : [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
}

const NO_UNITS = 'No units yet. To deploy: git push tancho HEAD:main';
const RESTS = 'No units: it is stopped. To start it: tancho app start';

function describe(app: AppInfo): string {
  const head = facts([
    ['App', app.Name],
    ['State', app.State],
    ['Address', knownUrl(app)],
    ['Also at', app.cname?.join(', ')],
    ...Object.entries(app.processUrls ?? {}).map(([process, url]): [string, string] => [`Answers (${process})`, url]),
    ['Swapped with', app.swappedWith],
    ['Reaches', app.links?.map((to) => `${to} at http://${to}.internal`).join(', ')],
    ['Reached by', app.linkedFrom?.join(', ')],
    ['Platform', app.Framework],
    ['Repository', app.Repository],
    ['Team', app.teamowner],
    ['Teams', app.Teams.join(', ')],
    ['Pool', app.Pool],
    ['Plan', app.plan?.name],
    ['Owner', app.owner],
    ['Deploys', app.deploys?.toString()],
    ['About', app.description],
    ...settingsOf(app.settings),
  ]);
  if (app.Units.length === 0) return `${head}\n\n${app.State === 'stopped' ? RESTS : NO_UNITS}`;
  const units = app.Units.map((unit) => [unit.Name, unit.ProcessName ?? '', unit.State, unit.Ip ?? '']);
  const problems = (app.problems ?? []).map((problem) => `\n !  ${printable(problem)}`).join('');
  return `${head}\n\n${table(['UNIT', 'PROCESS', 'STATE', 'ADDRESS'], units)}${problems === '' ? '' : `\n${problems}`}`;
}

/** What is set in place of files in the source. */
function settingsOf(settings: AppInfo['settings']): [string, string | undefined][] {
  if (settings === undefined) return [];
  const { startCommands, buildCommand, root, keepDevPackages, counts } = settings;
  return [
    ...Object.entries(startCommands).map(([process, command]): [string, string] => [`Starts ${process}`, command]),
    ['Builds with', buildCommand],
    ['Root', root],
    ['Keeps', keepDevPackages ? 'development packages' : ''],
    ['Units set', list(counts)],
  ];
}

function list(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([process, count]) => `${process}=${count}`)
    .join(', ');
}
