/**
 * Apps to another pool, one after the other, each by a rollout. Nothing is kept of it but where the apps are: the same command again goes on with those
 * that are not there yet.
 */
import type { Client } from '../../client/client.ts';
import { ClientError } from '../../client/errors.ts';
import type { Cli } from '../cli.ts';
import { CliError } from '../errors.ts';

export interface AppMoves {
  readonly pool: string;
  /** Null: apps of all pools that are on another engine. */
  readonly from: string | null;
  /** None: all. */
  readonly apps: readonly string[];
}

interface Listed {
  readonly Name: string;
  readonly Pool: string;
}

/** What keeps an app where it is, and what lets it go. */
interface Obstacle {
  readonly app: string;
  readonly why: string;
  readonly hint: string;
}

const DEFAULT_POOL = 'default';
const COLUMN = 24;

/** Exit code: 0 when all that were to move are there. */
export async function moveApps(cli: Cli, moves: AppMoves): Promise<number> {
  const client = await cli.client();
  const { wanted, obstacles, there } = await cli.during('Looking what is where', () => survey(client, moves));
  for (const { why, hint } of obstacles) cli.warn(withHint(why, hint));
  if (wanted.length > 0) cli.note(`${count(wanted.length)} to move to the pool ${moves.pool}.`);
  const moved: Listed[] = [];
  const failed: Obstacle[] = [];
  for (const [index, app] of wanted.entries()) {
    const place = `${index + 1}/${wanted.length} ${app.Name}`.padEnd(COLUMN);
    const before = performance.now();
    const error = await cli.during(`Moving ${app.Name}`, () =>
      refusal(() => client.apps.update(app.Name, { pool: moves.pool })),
    );
    if (error === null) {
      moved.push(app);
      cli.note(`${place} moved in ${((performance.now() - before) / 1000).toFixed(1)} s`);
    } else {
      failed.push({ app: app.Name, why: error.message, hint: error.hint });
      cli.warn(withHint(`${app.Name} stays where it is: ${error.message}`, error.hint));
    }
  }
  const stay = [...obstacles, ...failed];
  cli.show({ pool: moves.pool, moved: moved.map(({ Name }) => Name), there, stay }, () =>
    summary(moves, { moved, there, stay }).join('\n'),
  );
  return stay.length === 0 ? 0 : 1;
}

interface Survey {
  readonly wanted: readonly Listed[];
  readonly obstacles: readonly Obstacle[];
  /** Names of those that are in the pool. */
  readonly there: readonly string[];
}

async function survey(client: Client, { pool, from, apps }: AppMoves): Promise<Survey> {
  const [pools, all] = await Promise.all([client.pools.list(), client.apps.list()]);
  const engines = new Map(pools.map(({ Name, Engine }) => [Name, Engine]));
  for (const name of [pool, ...(from === null ? [] : [from])]) {
    if (!engines.has(name)) throw new CliError(`There is no pool ${name}.`, 'To see which there are: tancho pool list');
  }
  const known = new Set(all.map(({ Name }) => Name));
  const missing = apps.find((name) => !known.has(name));
  if (missing !== undefined) throw new CliError(`App ${missing} not found.`, 'List your apps with "tancho app list".');
  const asked = all.filter(({ Name }) => apps.length === 0 || apps.includes(Name));
  const isElsewhere = ({ Pool }: Listed): boolean =>
    from !== null ? Pool === from : apps.length > 0 || engines.get(Pool) !== engines.get(pool);
  const leaving = asked.filter((app) => app.Pool !== pool && isElsewhere(app));
  const there = asked.filter(({ Pool }) => Pool === pool).map(({ Name }) => Name);
  const obstacles: Obstacle[] = [];
  for (const { Name } of leaving) {
    const error = await refusal(() => client.apps.tryUpdate(Name, { pool }));
    if (error !== null) obstacles.push({ app: Name, why: error.message, hint: error.hint });
  }
  const kept = new Set(obstacles.map(({ app }) => app));
  return { wanted: leaving.filter(({ Name }) => !kept.has(Name)), obstacles, there };
}

/** What the server says against it; null: nothing. */
async function refusal(attempt: () => Promise<void>): Promise<ClientError | null> {
  try {
    await attempt();
    return null;
  } catch (error) {
    if (error instanceof ClientError && error.status !== 0) return error;
    throw error;
  }
}

interface Outcome {
  readonly moved: readonly Listed[];
  readonly there: readonly string[];
  readonly stay: readonly Obstacle[];
}

function summary({ pool }: AppMoves, { moved, there, stay }: Outcome): string[] {
  const left = new Set(moved.map(({ Pool }) => Pool));
  const [only, ...more] = left;
  const lines = [
    moved.length === 0 && stay.length === 0
      ? `All of them are in the pool ${pool}.`
      : `${count(moved.length)} moved to the pool ${pool}, ${there.length} ${there.length === 1 ? 'was' : 'were'} there, ${stay.length} ${stay.length === 1 ? 'stays' : 'stay'}.`,
  ];
  if (only !== undefined && more.length === 0) {
    const which = there.length === 0 ? `--from ${pool}` : moved.map(({ Name }) => `-a ${Name}`).join(' ');
    lines.push(`The way back: tancho migrate --pool ${only} ${which}`);
  }
  if (stay.length > 0) lines.push('The same command again goes on with those that stay.');
  else if (pool !== DEFAULT_POOL)
    lines.push(
      'When nothing runs on the machines of the servers any more, there can be several: docs/controls.md, "From one server to several".',
    );
  return lines;
}

function withHint(text: string, hint: string): string {
  return hint === '' ? text : `${text}\n  Hint: ${hint}`;
}

function count(apps: number): string {
  return apps === 1 ? '1 app' : `${apps} apps`;
}
