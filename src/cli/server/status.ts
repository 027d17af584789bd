/** `tancho server status`: exit code 0 while the server of this home answers. */
import { join } from 'node:path';
import { type Client, createClient } from '../../client/client.ts';
import { ClientError } from '../../client/errors.ts';
import type { Cli } from '../cli.ts';
import { facts } from '../output.ts';
import { findPart } from './running.ts';

export async function serverStatus(cli: Cli): Promise<void> {
  const { home } = cli.context;
  const [control, edge] = await Promise.all([findPart(cli.context, 'control'), findPart(cli.context, 'edge')]);
  const socketPath = join(home, 'run', 'api.sock');
  const client = createClient({ socketPath });
  const { health, version } = await cli.during('Asking', async () => {
    try {
      return { health: await client.healthcheck(), version: (await client.info()).version };
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      return { health: error.message, version: '' };
    }
  });
  const isRunning = health === 'WORKING';
  // Of a server without an edge, those that follow it or its like are all there are.
  const following = edge === null && isRunning ? await cli.during('Asking', () => edgesElsewhere(client)) : undefined;
  if (!isRunning) cli.exitCode = 1;
  const result = { running: isRunning, home, control: control?.pid ?? null, edge: edge?.pid ?? null, version, health };
  cli.show(result, () => {
    if (!isRunning && control === null) {
      const left = edge === null ? '' : ` Its edge (process ${edge.pid}) still serves the apps.`;
      return `No server runs for ${home}.${left} To start it: tancho server`;
    }
    return facts([
      ['Server', isRunning ? 'running' : `not answering (${health})`],
      ['Version', version],
      ['Home', home],
      ['Control', control === null ? undefined : `process ${control.pid}`],
      ['Edge', edge === null ? following : `process ${edge.pid}`],
    ]);
  });
}

/** Undefined of a server that does not say. */
async function edgesElsewhere(client: Client): Promise<string | undefined> {
  try {
    const all = await client.edges.list();
    const count = all.filter(({ State }) => State === 'following').length;
    return `none on this machine; ${count} of their own follow (tancho edge list)`;
  } catch (error) {
    if (error instanceof ClientError) return undefined;
    throw error;
  }
}
