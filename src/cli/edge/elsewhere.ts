/** Edges on other machines: running one here, which there are, and the tokens by which they follow. */
import { hostname } from 'node:os';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { facts, table, when } from '../output.ts';
import { confirm } from '../prompt.ts';

const several = (one: string, before: readonly string[] = []): string[] => [...before, one];

interface RunFlags {
  readonly server?: readonly string[];
  readonly token?: string;
  readonly name?: string;
}

export function registerEdgesElsewhere(edge: Command, cli: Cli): void {
  edge
    .command('run')
    .description('Run an edge on this machine that follows servers elsewhere')
    .option('--server <url>', "address of a server's API; repeatable, for each of them will do", several)
    .option(
      '--token <token>',
      'of "tancho edge token-create" (better: TANCHO_EDGE_TOKEN, which other users do not see)',
    )
    .option('--name <name>', 'unique among all edges (default: the name of this machine)')
    .addHelpText(
      'after',
      `
Runs in the foreground until SIGTERM or Ctrl-C, and answers then what it has begun. Where one runs already in the same TANCHO_HOME, as before an
upgrade, this one takes over from it without a lost request, and that one ends. While no server answers it serves by the table it has
kept in TANCHO_HOME. It has the settings of edges: TANCHO_EDGE_LISTEN, TANCHO_TLS_LISTEN, TANCHO_EDGE_WORKERS and more (docs/edges.md).`,
    )
    .action((flags: RunFlags) => runEdge(cli, flags));
  edge
    .command('list')
    .description('List the edges on other machines (admins)')
    .action(async () => {
      const client = await cli.client();
      const edges = await cli.during('Asking', () => client.edges.list());
      const rows = edges.map((one) => [
        one.Name,
        one.LostAt === '' ? one.State : `${one.State} ${when(one.LostAt)}`,
        one.Server,
        when(one.Since),
        one.Version,
        one.Address,
      ]);
      const head = ['NAME', 'STATE', 'SERVER', 'SINCE', 'VERSION', 'ADDRESS'];
      cli.show(edges, () => (rows.length === 0 ? 'There are no edges on other machines.' : table(head, rows)));
    });
  edge
    .command('token-create')
    .description('Make a token by which edges on other machines follow; it is shown once (admins)')
    .argument('<name>', 'to know it by; several edges may have the same token')
    .action(async (name: string) => {
      const client = await cli.client();
      const made = await cli.during('Making the token', () => client.edges.createToken(name));
      cli.show(made, () => made.Token);
    });
  edge
    .command('token-list')
    .description('List these tokens, without what they are (admins)')
    .action(async () => {
      const client = await cli.client();
      const tokens = await cli.during('Asking', () => client.edges.tokens());
      const rows = tokens.map((one) => [one.Name, one.CreatedBy, when(one.CreatedAt)]);
      cli.show(tokens, () => (rows.length === 0 ? 'There are none.' : table(['NAME', 'BY', 'CREATED'], rows)));
    });
  edge
    .command('token-revoke')
    .description('End such a token: edges that have it hear of no change any more (admins)')
    .argument('<name>', 'of the token')
    .option('-y, --yes', 'do not ask')
    .action(async (name: string, options: { yes?: boolean }) => {
      if (options.yes !== true) await confirm(cli, `End the token ${name}? Edges that have it go stale.`, '--yes');
      const client = await cli.client();
      await cli.during('Ending the token', () => client.edges.revokeToken(name));
      cli.show({ name }, () => `The token ${name} has ended.`);
    });
}

async function runEdge(cli: Cli, flags: RunFlags): Promise<void> {
  const { env, server: door } = cli.context;
  const token = flags.token ?? env['TANCHO_EDGE_TOKEN'] ?? '';
  const servers = flags.server ?? [];
  const name = flags.name ?? hostname().toLowerCase();
  if (servers.length === 0)
    throw new UsageError(
      'Say which servers to follow.',
      'For example: tancho edge run --server https://tancho.example.com',
    );
  for (const server of servers) {
    if (!/^https?:$/.test(URL.canParse(server) ? new URL(server).protocol : ''))
      throw new UsageError(
        `${JSON.stringify(server)} is no address of a server.`,
        'It begins with http:// or https://.',
      );
  }
  if (token === '')
    throw new UsageError(
      'The token is missing.',
      'Make one with "tancho edge token-create <name>", and set TANCHO_EDGE_TOKEN to it.',
    );
  const asked = new Promise<'asked'>((resolve) => door.onSignal(() => resolve('asked')));
  const edge = await cli.during('Starting', () => door.startEdge({ servers, token, name }));
  cli.note(
    facts([
      ['Edge', name],
      ['Apps', edge.listen],
      ['HTTPS', edge.tlsListen ?? 'off'],
      ['Follows', servers.join(', ')],
    ]),
  );
  if ((await Promise.race([asked, edge.ended])) !== 'asked') return cli.note('Another one has taken over.');
  cli.note('Stopping; requests that have begun are answered ...');
  await edge.stop();
}
