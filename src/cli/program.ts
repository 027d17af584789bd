/** The tree of commands. Only the noun that is used is loaded, so that the command line starts fast. */
import { Command } from 'commander';
import { Cli, type GlobalOptions } from './cli.ts';
import type { CliContext, Output } from './context.ts';
import { CliError } from './errors.ts';

/** Adds the verbs of a noun, or the action of a plain command. */
type Register = (command: Command, cli: Cli) => void;

interface Entry {
  readonly description: string;
  /** Another name of it. */
  readonly alias?: string;
  readonly load: () => Promise<Register>;
}

export const COMMANDS: Readonly<Record<string, Entry>> = {
  login: {
    description: 'Log in to a platform and remember it',
    load: async () => (await import('./users/login.ts')).registerLogin,
  },
  logout: {
    description: 'End the login of this machine',
    load: async () => (await import('./users/logout.ts')).registerLogout,
  },
  whoami: {
    description: 'Show who you are, and on which platform',
    load: async () => (await import('./users/whoami.ts')).registerWhoami,
  },
  user: { description: 'Accounts', load: async () => (await import('./users/user.ts')).registerUser },
  key: { description: 'Your SSH keys, for git push', load: async () => (await import('./keys/key.ts')).registerKey },
  token: {
    description: 'Your API key, a token that does not expire',
    load: async () => (await import('./users/token.ts')).registerToken,
  },
  team: { description: 'Teams and their members', load: async () => (await import('./teams/team.ts')).registerTeam },
  app: { description: 'Apps', load: async () => (await import('./apps/app.ts')).registerApp },
  unit: { description: 'Units of an app', load: async () => (await import('./units/unit.ts')).registerUnit },
  why: { description: 'Say why an app is not answering', load: async () => (await import('./why.ts')).registerWhy },
  cname: {
    description: 'Extra host names of an app',
    load: async () => (await import('./cnames/cname.ts')).registerCname,
  },
  env: { description: 'Environment of an app', load: async () => (await import('./env/env.ts')).registerEnv },
  registry: {
    description: 'Logins at registries of images',
    load: async () => (await import('./registries/registry.ts')).registerRegistry,
  },
  release: {
    description: 'Releases of an app, and what differs between them',
    load: async () => (await import('./releases/release.ts')).registerRelease,
  },
  volume: {
    description: 'Volumes: directories of an app that stay',
    load: async () => (await import('./volumes/volume.ts')).registerVolume,
  },
  service: {
    description: 'Services that apps can bind to',
    load: async () => (await import('./services/service.ts')).registerService,
  },
  instance: {
    description: 'Instances of services, and binding them to apps',
    load: async () => (await import('./instances/instance.ts')).registerInstance,
  },
  deploy: {
    description: 'Deploy a directory; the deploys of your apps',
    load: async () => (await import('./deploys/deploy.ts')).registerDeploy,
  },
  build: {
    description: 'How a source is built',
    load: async () => (await import('./build/build.ts')).registerBuild,
  },
  platform: {
    description: 'Platforms: the languages that apps can be written in',
    load: async () => (await import('./platforms/platform.ts')).registerPlatform,
  },
  plan: {
    description: 'Plans: what the units of an app may use',
    load: async () => (await import('./plans/plan.ts')).registerPlan,
  },
  cert: {
    description: 'Certificates of host names',
    load: async () => (await import('./certificates/cert.ts')).registerCert,
  },
  pool: { description: 'Pools of apps', load: async () => (await import('./pools/pool.ts')).registerPool },
  provider: {
    description: 'Run, or check, a provider of services',
    load: async () => (await import('./provider/provider.ts')).registerProvider,
  },
  drain: {
    description: 'Drains: the lines of your apps, sent on to receivers elsewhere',
    load: async () => (await import('./drains/drain.ts')).registerDrain,
  },
  edge: {
    description: 'How edges treat the requests to an app: maintenance, holding, limits; edges on other machines',
    load: async () => (await import('./edge/edge.ts')).registerEdge,
  },
  alert: {
    description: 'Alerts: what is wrong, reported by letter and by webhook',
    load: async () => (await import('./alerts/alert.ts')).registerAlert,
  },
  webhook: {
    description: 'Webhooks: what happens, reported to receivers elsewhere',
    load: async () => (await import('./webhooks/webhook.ts')).registerWebhook,
  },
  healer: {
    description: 'Healers: they find disorder and put it in order',
    load: async () => (await import('./healers/healer.ts')).registerHealer,
  },
  event: {
    description: 'The record of who did what',
    alias: 'audit',
    load: async () => (await import('./events/event.ts')).registerEvent,
  },
  server: {
    description: 'Run the platform on this machine',
    load: async () => (await import('./server/server.ts')).registerServer,
  },
  install: {
    description: 'Put the platform into a Kubernetes cluster',
    load: async () => (await import('./install/install.ts')).registerInstall,
  },
  migrate: {
    description: 'Move the state of this server from SQLite to PostgreSQL',
    load: async () => (await import('./server/migrate.ts')).registerMigrate,
  },
  version: {
    description: 'Show the version of this program',
    load: async () => (command, cli) => {
      command.action(() => cli.show({ version: cli.context.version }, () => `tancho ${cli.context.version}`));
    },
  },
  completion: {
    description: 'Print the completion script of a shell: bash, zsh or fish',
    load: async () => {
      const { registerCompletion } = await import('./completion.ts');
      return (command, cli) => registerCompletion(command, cli, wholeTree);
    },
  },
};

/** Columns of a help text; in fewer than these it would be no easier to read. */
const MIN_WIDTH = 40;
const MAX_WIDTH = 100;

interface Program {
  readonly root: Command;
  readonly cli: Cli;
}

/** `wanted`: the names whose commands are loaded; the others only show their description. */
export async function createProgram(context: CliContext, wanted: ReadonlySet<string>): Promise<Program> {
  const root = new Command('tancho');
  const cli = new Cli(context, () => root.opts<GlobalOptions>());
  root
    .description('Push code, get a URL: an application platform on your own machines.')
    .option('--target <url>', 'the platform to use (else TANCHO_TARGET, the saved login, this machine)')
    .option('--json', 'print the result as JSON')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true, helpWidth: helpWidth(context.stdout), minWidthToWrap: 20 })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(text),
      outputError: () => {},
      getOutHelpWidth: () => helpWidth(context.stdout),
      getErrHelpWidth: () => helpWidth(context.stderr),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .version(`tancho ${context.version}`, '-V, --version', 'show the version of this program')
    .addHelpText(
      'after',
      '\nStart with:\n  tancho login <url>\n  tancho app create <name>\n  git push tancho HEAD:main',
    );
  for (const [name, entry] of Object.entries(COMMANDS)) {
    const { alias } = entry;
    const command = root.command(name).description(entry.description).helpCommand(false);
    if (alias !== undefined) command.alias(alias);
    if (wanted.has(name) || (alias !== undefined && wanted.has(alias))) (await entry.load())(command, cli);
    else command.action(() => {});
  }
  return { root, cli };
}

/** In a pipe always the same. */
function helpWidth({ isTTY, columns = 0 }: Output): number {
  return isTTY === true && columns >= MIN_WIDTH ? Math.min(columns, MAX_WIDTH) : MAX_WIDTH;
}

async function wholeTree(context: CliContext): Promise<Command> {
  return (await createProgram(context, new Set(Object.keys(COMMANDS)))).root;
}

/** The noun of a command line: its first word that is no option. */
function nounOf(argv: readonly string[]): string {
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (word === '--target') index += 1;
    else if (!word.startsWith('-')) return word;
  }
  return '';
}

/** Asked by the completion scripts; no command for people. */
const COMPLETE = '__complete';

export async function runCli(argv: readonly string[], context: CliContext): Promise<number> {
  if (argv[0] === COMPLETE) {
    const { complete } = await import('./complete.ts');
    return complete(argv.slice(1), context, createProgram);
  }
  const words = nounOf(argv) === 'help' ? [...argv.filter((word) => word !== 'help'), '--help'] : [...argv];
  const { root, cli } = await createProgram(context, new Set([nounOf(words)]));
  try {
    if (words.length === 0) {
      root.outputHelp({ error: true });
      return 2;
    }
    await root.parseAsync(words, { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    const failure = await fromCommander(error, words, context);
    if (typeof failure === 'number') return failure;
    const { report } = await import('./errors.ts');
    return report(context, await explain(cli, failure));
  }
}

/** Commander ends by throwing: 0 after --help and --version, 2 after a noun without a verb, else wrong use. */
async function fromCommander(error: unknown, words: readonly string[], context: CliContext): Promise<unknown> {
  const { code = '', message = '' } = error instanceof Error ? (error as Error & { code?: unknown }) : {};
  if (typeof code !== 'string' || !code.startsWith('commander.')) return error;
  if (code === 'commander.helpDisplayed' || code === 'commander.version') return 0;
  if (code === 'commander.help') return 2;
  const { wrongUse } = await import('./wrong-use.ts');
  return wrongUse(code, message, words, await wholeTree(context));
}

/** A refused login is answered by the command that logs in. */
async function explain(cli: Cli, thrown: unknown): Promise<unknown> {
  if (!(thrown instanceof Error) || thrown instanceof CliError) return thrown;
  if ((thrown as { code?: unknown }).code !== 'auth.required') return thrown;
  const url = await cli.chosen().then(
    (chosen) => chosen.url,
    () => '',
  );
  if (url === '') return thrown;
  if ((cli.context.env['TANCHO_TOKEN'] ?? '') !== '') {
    return new CliError(`${url} does not accept the token in TANCHO_TOKEN.`, 'Give it another one, or unset it.', {
      cause: thrown,
    });
  }
  return new CliError(`You are not logged in to ${url}, or the login has ended.`, `Log in: tancho login ${url}`, {
    cause: thrown,
  });
}
