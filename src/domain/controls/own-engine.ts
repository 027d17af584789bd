/**
 * The engine that runs what names none (the default pool) is a setting of each server, and what its units were started by is in the database.
 * So a server says at its start what it takes for its own, and another one is refused while anything depends on it.
 */
import { PlatformError } from '../errors.ts';
import type { Store } from '../store.ts';
import type { Engines } from '../units/engines.ts';
import { CONTROL_PREFIX } from './control-lease.ts';

const KEY = 'engine.own';
/** Of all servers, before they said it. */
const FIRST = 'process';
const NAMED = 5;

interface OwnEngineOptions {
  readonly owner: string;
  readonly isOneOfSeveral: boolean;
}

/** To be called by who has the lease of a control. Throws PlatformError `unavailable`. */
export async function demandOwnEngine(
  store: Store,
  { engines }: Pick<Engines, 'engines'>,
  { owner, isOneOfSeveral }: OwnEngineOptions,
): Promise<void> {
  const own = engines[0]?.name ?? FIRST;
  const others = (await store.leases(CONTROL_PREFIX)).filter(
    ({ key, isExpired }) => !isExpired && key !== CONTROL_PREFIX + owner,
  );
  await store.transact(async (tx) => {
    const said = await tx.setting(KEY);
    const before = said ?? FIRST;
    if (before !== own) {
      // Others that have not said theirs are starting, too: they compare it with this one's.
      if (said !== null && others.length > 0) throw otherwise(own, before);
      const apps: string[] = [];
      for (const { name, release } of await tx.apps()) {
        const serving = release === null ? null : await tx.release(name, release);
        if (serving !== null && serving.placement === null) apps.push(name);
      }
      if (apps.length > 0) throw inUse(before, apps);
    }
    // One alone reports a missing engine when it is needed; one of several may have to go on with the work of another at any time.
    const unknown = (await tx.pools()).find(
      ({ placement }) => placement !== null && !engines.some(({ name }) => name === placement.engine),
    );
    if (isOneOfSeveral && unknown !== undefined) throw lacking(unknown.name, unknown.placement?.engine ?? '');
    if (said !== own) await tx.setSetting(KEY, own);
  });
}

function inUse(before: string, apps: readonly string[]): PlatformError {
  const more = apps.length > NAMED ? ` and ${apps.length - NAMED} more` : '';
  const names = `${apps.slice(0, NAMED).join(', ')}${more}`;
  const again = before === FIRST ? 'TANCHO_PROCESS_ENGINE=on' : `the engine ${before} named first`;
  return new PlatformError(
    'unavailable',
    `Apps of this database (${names}) are in pools of the engine ${before}, which is not the first one of this server.`,
    { hint: `Start it with ${again}, move them (tancho app update <app> --pool <pool>), and try again.` },
  );
}

function otherwise(own: string, before: string): PlatformError {
  return new PlatformError(
    'unavailable',
    `Other servers work with this database, and their first engine is ${before}, not ${own}.`,
    { hint: 'Give this one the same engines in the same order as the others (TANCHO_ENGINES).' },
  );
}

function lacking(pool: string, engine: string): PlatformError {
  return new PlatformError('unavailable', `The pool ${pool} is on the engine ${engine}, which this server has not.`, {
    hint: 'Give this one the same engines as the others (TANCHO_ENGINES).',
  });
}
