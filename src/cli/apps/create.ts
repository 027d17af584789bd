import type { Command } from 'commander';
import { realpath } from 'node:fs/promises';
import type { Client } from '../../client/client.ts';
import type { Cli } from '../cli.ts';
import { git, REMOTE, workTree } from '../git.ts';
import { facts } from '../output.ts';

const AUTO = 'auto';

interface CreateOptions {
  readonly team?: string;
  readonly description?: string;
  readonly pool?: string;
  readonly plan?: string;
  readonly remote: boolean;
}

export function registerCreate(app: Command, cli: Cli): void {
  app
    .command('create')
    .description('Create an app; in a git work tree, add the remote to push to')
    .argument('<name>', 'name of the app, and of its address')
    .argument(
      '[platform]',
      'what it is written in, as "tancho platform list" shows it, or what the first push is',
      AUTO,
    )
    .option('-t, --team <team>', 'the team that owns it (needed when you are in several)')
    .option('-d, --description <text>', 'what it is')
    .option('--pool <pool>', 'the pool it is to be in')
    .option('--plan <plan>', 'what its units may use')
    .option('--no-remote', 'add no git remote')
    .action((name: string, platform: string, options: CreateOptions) => create(cli, name, platform, options));
}

async function create(cli: Cli, name: string, platform: string, options: CreateOptions): Promise<void> {
  const { client, url } = await cli.chosen();
  const created = await cli.during(`Creating ${name}`, () =>
    client.apps.create({
      name,
      platform,
      ...(options.team === undefined ? {} : { teamOwner: options.team }),
      ...(options.description === undefined ? {} : { description: options.description }),
      ...(options.pool === undefined ? {} : { pool: options.pool }),
      ...(options.plan === undefined ? {} : { plan: options.plan }),
    }),
  );
  const keys = await cli.during('Asking for your keys', () => client.keys.list());
  const missing = platform === AUTO ? [] : await missingFor(client, platform);
  const overHttp = Object.keys(keys).length === 0 && url !== '';
  const address = overHttp ? `${url}/git/${encodeURIComponent(name)}.git` : created.repository_url;
  const remote = options.remote ? await addRemote(cli, address) : { added: false, isOther: false, lines: [] };
  cli.show({ ...created, name, remote: address, remote_added: remote.added, missing }, () => {
    const lines = [
      `App ${name} created.`,
      facts([
        ['Address', created.url ?? (created.ip === undefined ? undefined : `http://${created.ip}`)],
        ['Repository', address],
      ]),
      ...remote.lines,
    ];
    if (!remote.added && remote.lines.length === 0) lines.push(`In your code: git remote add ${REMOTE} ${address}`);
    if (!overHttp && Object.keys(keys).length === 0) lines.push('You have no SSH key yet; add yours: tancho key add');
    for (const tool of missing) lines.push(`The server cannot build it yet: ${tool}`);
    lines.push(`To deploy: git push ${remote.isOther ? address : REMOTE} HEAD:main`);
    return lines.join('\n');
  });
}

/** What the server lacks to build such an app, each with the command that installs it. Who may not know makes the app all the same. */
async function missingFor(client: Client, platform: string): Promise<readonly string[]> {
  const platforms = await client.platforms.list().catch(() => []);
  const { Ready, Missing = [] } = platforms.find(({ Name }) => Name === platform) ?? {};
  return Ready === false ? Missing : [];
}

interface Remote {
  readonly added: boolean;
  /** Whether the remote of that name leads to another app. */
  readonly isOther: boolean;
  readonly lines: readonly string[];
}

/** Says what it did; an existing remote is never changed. */
async function addRemote(cli: Cli, address: string): Promise<Remote> {
  const top = await workTree(cli);
  if (top === null) return { added: false, isOther: false, lines: [] };
  // Whoever tries the platform out from its own clone does not want to push that clone.
  if ((await realpath(top)) === (await realpath(cli.context.packageRoot)))
    return { added: false, isOther: false, lines: [] };
  const before = await git(cli, ['remote', 'get-url', '--', REMOTE]);
  if (before === address)
    return { added: true, isOther: false, lines: [`The git remote "${REMOTE}" is already there.`] };
  if (before !== null) {
    return {
      added: false,
      isOther: true,
      lines: [
        `The git remote "${REMOTE}" is another app (${before}). To change it: git remote set-url ${REMOTE} ${address}`,
      ],
    };
  }
  const added = (await git(cli, ['remote', 'add', '--', REMOTE, address])) !== null;
  return added
    ? { added, isOther: false, lines: [`Added the git remote "${REMOTE}" to ${top}.`] }
    : { added, isOther: false, lines: [`The git remote could not be added: git remote add ${REMOTE} ${address}`] };
}
