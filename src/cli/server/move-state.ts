/** The state of this machine's server, from the files of its home to a PostgreSQL or back: from under a server that runs, which serves again then. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../../client/client.ts';
import { ClientError } from '../../client/errors.ts';
import { loadConfig } from '../../config/load.ts';
import { isSameDatabase } from '../../config/state-place.ts';
import { HomeTaken } from '../../lib/home-claim.ts';
import { claimMove } from '../../lib/move-claim.ts';
import { isRunning, type PidRecord } from '../../lib/pid-file.ts';
import type { Cli } from '../cli.ts';
import { CliError, UsageError } from '../errors.ts';
import { findPart, signalPart } from './running.ts';

interface Move {
  readonly home: string;
  readonly url: string;
  readonly to: 'postgres' | 'sqlite';
}

const STOPPED_WITHIN_MS = 120_000;
const SERVES_WITHIN_MS = 120_000;
const POLL_MS = 50;

export async function moveState(cli: Cli, target: string): Promise<void> {
  const { server } = cli.context;
  const move = await demandMove(cli, target);
  const end = await claim(move.home);
  let control: PidRecord | null;
  let awayFrom: number;
  let tables;
  try {
    control = await findPart(cli.context, 'control');
    const isServing = control !== null;
    await cli.during('Looking whether it can be moved', () => server.checkMove(move, isServing));
    if (isServing)
      await cli.during('Copying the logs that are complete, while the server serves', (say) =>
        server.bringAhead({ ...move, onRows: (rows) => say(`${rows} blocks`) }),
      );
    awayFrom = performance.now();
    if (control !== null) await stop(cli, control);
    tables = await cli.during('Copying', (say) =>
      server.moveState({ ...move, isAhead: isServing, onTable: ({ table, rows }) => say(`${table}: ${rows}`) }),
    );
  } finally {
    await end();
  }
  const serving = control;
  const isServing = serving !== null && (await cli.during('Starting', () => serves(cli, serving)));
  const awayMs = isServing ? Math.round(performance.now() - awayFrom) : null;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const ahead = tables.reduce((sum, table) => sum + (table.ahead ?? 0), 0);
  cli.show({ to: move.to, tables, serves: isServing, awayMs }, () =>
    [
      `${rows} rows of ${tables.length} tables are ${move.to === 'sqlite' ? `in the files of ${move.home}` : 'there'}, each as it was.${ahead === 0 ? '' : ` ${ahead} of them were copied while the server served.`}`,
      awayMs === null
        ? 'Now start the server, which goes on with them: tancho server'
        : `The server serves with them; its API was away for ${(awayMs / 1000).toFixed(1)} s.`,
      ...nextSteps(move),
    ].join('\n'),
  );
}

async function demandMove(cli: Cli, target: string): Promise<Move> {
  const { home, env } = cli.context;
  const isUrl = /^postgres(?:ql)?:\/\//.test(target) && URL.canParse(target);
  if (!isUrl && target !== 'sqlite')
    throw new UsageError('Say where to: --to postgres://user:password@host/database, or --to sqlite.');
  const { databaseUrl } = await loadConfig(env);
  if (target === 'sqlite') {
    if (databaseUrl === null)
      throw new CliError(`The state of this server is in the files of ${home}.`, 'Nothing has to be done.');
    return { home, url: databaseUrl, to: 'sqlite' };
  }
  if (databaseUrl !== null && isSameDatabase(databaseUrl, target))
    throw new CliError('The state of this server is there already.', 'Nothing has to be done.');
  if (databaseUrl !== null)
    throw new CliError(
      'The state of this server is in another PostgreSQL.',
      'PostgreSQL copies itself: stop the server, pg_dump and pg_restore, then start it with the new address as database.url.',
    );
  if (!existsSync(join(home, 'tancho.db')))
    throw new CliError(`There is no state of a server in ${home}.`, 'Set TANCHO_HOME.');
  return { home, url: target, to: 'postgres' };
}

async function claim(home: string): Promise<() => Promise<void>> {
  try {
    return await claimMove(home);
  } catch (error) {
    if (!(error instanceof HomeTaken)) throw error;
    throw new CliError(`Another tancho migrate (process ${error.pid}) is at it.`, 'Wait until it is over.');
  }
}

/** Its process stays, or somebody starts it again: it waits for the end of the move then. */
async function stop(cli: Cli, control: PidRecord): Promise<void> {
  signalPart(control, 'control', 'SIGTERM');
  const deadline = Date.now() + STOPPED_WITHIN_MS;
  const isGone = await cli.during(
    `Stopping the server (process ${control.pid}); the apps stay on the air`,
    async () => {
      while (Date.now() < deadline) {
        if ((await findPart(cli.context, 'control')) === null) return true;
        await delay(POLL_MS);
      }
      return false;
    },
  );
  if (isGone) return;
  throw new CliError(
    `The server (process ${control.pid}) has not ended within ${STOPPED_WITHIN_MS / 1000} seconds; nothing was moved.`,
    'When it has ended, start it again, then try once more: tancho server',
  );
}

/** False: nobody starts it. */
async function serves(cli: Cli, before: PidRecord): Promise<boolean> {
  const client = createClient({ socketPath: join(cli.context.home, 'run', 'api.sock') });
  const deadline = Date.now() + SERVES_WITHIN_MS;
  while (Date.now() < deadline) {
    const health = await client.healthcheck().catch((error: unknown) => {
      if (error instanceof ClientError) return '';
      throw error;
    });
    if (health === 'WORKING') return true;
    if (!(await isRunning(before)) && (await findPart(cli.context, 'control')) === null) return false;
    await delay(POLL_MS);
  }
  throw new CliError(
    `The state was moved, and the server (process ${before.pid}) does not answer yet.`,
    'Look what it says in its log, then: tancho server status',
  );
}

function nextSteps({ to, home }: Move): string[] {
  if (to === 'postgres')
    return [
      `${join(home, 'state.json')} names the database; the files stay, as they were. The way back, with all that changes from now on: tancho migrate --to sqlite`,
    ];
  return [
    'The database stays as it was, and no server starts with it any more. A setting that names it (TANCHO_DATABASE_URL, database.url) is ignored: remove it.',
  ];
}
