/** Keeps the router's table equal to what the store says serves. Owns when a table is published, not how. */
import type { Route, Router, Target } from './router.ts';
import { type App, hostLabel } from '../apps/app.ts';
import { rulesOf } from '../apps/edge-settings.ts';
import { ROUTED_PROCESS, servingUnits, type Unit } from '../units/unit.ts';
import { type RouteFault, routeFaults } from './route-faults.ts';
import type { LinkedApp, Provisioner } from '../units/provisioner.ts';
import { PlatformError } from '../errors.ts';
import type { Store } from '../store.ts';
import type { Logger } from '../../lib/logger.ts';

const RETRY_MS = 250;
const GIVE_UP_MS = 60_000;
const RESERVED = 'routes.reserved_version';
/** So many tables are published between two writes of the reserve. */
const RESERVE = 10_000;
/** Of more apps than these everything is read at once. */
const MOST_READ_ALONE = 50;

export interface RoutesDeps {
  readonly store: Store;
  readonly router: Router;
  readonly provisioner: Pick<Provisioner, 'link' | 'processOf'>;
  readonly domain: string;
  readonly logger: Logger;
  readonly now: () => Date;
  /** How long a router that does not take a table is tried; a minute when absent. */
  readonly giveUpMs?: number;
  /** Called with every table that the router has taken. */
  readonly onPublished?: () => void;
}

/** What of the platform is in a route. */
interface RouteFacts {
  readonly domain: string;
  readonly processOf: Provisioner['processOf'];
}

/** What is published of one app. */
interface Entry {
  readonly route: Route;
  /** Apps whose units it reaches. */
  readonly links: readonly string[];
}

export class Routes {
  readonly #store: Store;
  readonly #router: Router;
  readonly #provisioner: RoutesDeps['provisioner'];
  readonly #facts: RouteFacts;
  readonly #logger: Logger;
  readonly #giveUpMs: number;
  readonly #now: () => Date;
  /** By app, as the router has taken them last. */
  #published: ReadonlyMap<string, Entry> = new Map();
  /** Apps whose routes may have changed since they were read. */
  #stale: Set<string> | 'all' = 'all';
  readonly #onPublished: () => void;
  #version = 0;
  #reservedTo = 0;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(deps: RoutesDeps) {
    this.#store = deps.store;
    this.#router = deps.router;
    this.#provisioner = deps.provisioner;
    this.#facts = { domain: deps.domain, processOf: (id) => deps.provisioner.processOf(id) };
    this.#logger = deps.logger;
    this.#now = deps.now;
    this.#giveUpMs = deps.giveUpMs ?? GIVE_UP_MS;
    this.#onPublished = deps.onPublished ?? (() => {});
  }

  /**
   * Resolves when the router serves these apps, all where none is named, by what was read from the store after this call. Calls that
   * arrive while one is under way share the one that follows it. Throws `unavailable` when the router stays out of reach.
   */
  publish(...apps: readonly string[]): Promise<void> {
    this.#markStale(apps.length === 0 ? 'all' : apps);
    return this.#publishStale();
  }

  #publishStale(): Promise<void> {
    if (this.#running === null) {
      this.#running = this.#apply().finally(() => {
        this.#running = null;
      });
      return this.#running;
    }
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        return this.#publishStale();
      });
    return this.#next;
  }

  /** Where the newest table that the router took from here brings the requests of an app. */
  targets(app: string): readonly Target[] {
    return this.#published.get(app)?.route.targets ?? [];
  }

  /** Some app has its requests logged. */
  get isLogging(): boolean {
    for (const { route } of this.#published.values()) if (route.rules?.accessLog === true) return true;
    return false;
  }

  /** Where the router's table is not what the store says; empty: nowhere. */
  async faults(): Promise<RouteFault[]> {
    const [known, wanted] = [await this.#router.table(), await this.#read('all')];
    return routeFaults(
      known.routes,
      [...wanted.values()].map(({ route }) => route),
    );
  }

  /** publish() for a router that has somehow come to a newer table than ours, and would ignore it. */
  async republish(): Promise<void> {
    const { version } = await this.#router.table();
    if (version >= this.#version) {
      this.#version = version;
      this.#reservedTo = 0;
    }
    await this.publish();
  }

  async #apply(): Promise<void> {
    const deadline = Date.now() + this.#giveUpMs;
    for (;;) {
      const stale = this.#stale;
      this.#stale = new Set();
      try {
        const entries = await this.#read(stale);
        const routes = [...entries.values()].map(({ route }) => route);
        const table = { version: await this.#nextVersion(), routes };
        await Promise.all([this.#router.apply(table), this.#provisioner.link(linkedApps(entries))]);
        this.#published = entries;
        this.#onPublished();
        return;
      } catch (error) {
        this.#markStale(stale);
        if (Date.now() > deadline) {
          throw new PlatformError('unavailable', 'The router does not take the new routes.', {
            cause: error,
            hint: 'See the log of the edge in the home directory.',
          });
        }
        this.#logger.warn({ err: error }, 'the router did not take the route table, trying again');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  #markStale(apps: Iterable<string> | 'all'): void {
    if (this.#stale === 'all') return;
    this.#stale = apps === 'all' ? 'all' : new Set([...this.#stale, ...apps]);
  }

  /** Of all apps, those of the stale ones as the store has them now; by name of the app. */
  async #read(stale: ReadonlySet<string> | 'all'): Promise<Map<string, Entry>> {
    if (stale === 'all' || stale.size > MOST_READ_ALONE) return this.#readAll();
    const entries = new Map(this.#published);
    for (const name of stale) {
      const app = await this.#store.app(name);
      if (app === null || app.removing) entries.delete(name);
      else entries.set(name, entryOf(app, await this.#store.units(name), this.#facts));
    }
    return entries;
  }

  async #readAll(): Promise<Map<string, Entry>> {
    const [apps, units] = await Promise.all([this.#store.apps(), this.#store.allUnits()]);
    const byApp = Map.groupBy(units, (unit) => unit.app);
    const routed = apps.filter((app) => !app.removing);
    return new Map(routed.map((app) => [app.name, entryOf(app, byApp.get(app.name) ?? [], this.#facts)]));
  }

  /**
   * Greater than every one before, also after a restart of control on a machine whose clock was set back: the router would ignore
   * all tables until the clock has caught up. So versions are taken from a stored reserve.
   */
  async #nextVersion(): Promise<number> {
    if (this.#version >= this.#reservedTo) {
      const now = this.#now().getTime();
      this.#version = await this.#store.transact(async (tx) => {
        const first = Math.max(this.#version, Number((await tx.setting(RESERVED)) ?? 0), now);
        await tx.setSetting(RESERVED, String(first + RESERVE));
        return first;
      });
      this.#reservedTo = this.#version + RESERVE;
    }
    this.#version += 1;
    return this.#version;
  }
}

/** Sorted by name; who takes requests from outside takes them from linked apps. */
function linkedApps(entries: ReadonlyMap<string, Entry>): LinkedApp[] {
  const from = new Map<string, string[]>();
  for (const [app, { links }] of entries) {
    for (const to of links) if (entries.has(to)) from.set(to, [...(from.get(to) ?? []), app].sort());
  }
  const linked = [...from].map(([app, by]) => {
    const targets = entries.get(app)?.route.targets ?? [];
    return { app, from: by, targets: targets.map(({ unit, port }) => ({ unit, port })) };
  });
  return linked.sort((one, other) => (one.app < other.app ? -1 : 1));
}

function entryOf(app: App, units: readonly Unit[], facts: RouteFacts): Entry {
  return { route: routeOf(app, units, facts), links: app.links };
}

/** Only units of the app's serving rollout that are started and have an address are targets. */
function routeOf(app: App, units: readonly Unit[], { domain, processOf }: RouteFacts): Route {
  const serving = servingUnits(app, units);
  const targets = serving.flatMap(({ id, state, address }): Target[] => {
    if (state !== 'started' || address === null) return [];
    const process = processOf(id);
    return [{ unit: id, host: address.host, port: address.port, ...(process !== null && { process }) }];
  });
  const rules = rulesOf(app.edge);
  return {
    app: app.name,
    hosts: [`${hostLabel(app)}.${domain}`, ...app.cname],
    targets,
    note: noteOf(app, serving, targets.length),
    https: app.edge.redirectHttps ? 'redirect' : 'both',
    ...(rules !== undefined && { rules }),
  };
}

function noteOf(app: App, serving: readonly Unit[], targets: number): string {
  if (targets > 0) return '';
  if (app.release === null) return `The app "${app.name}" has not been deployed yet.`;
  if (app.desired === 'stopped' || app.stoppedProcesses.includes(ROUTED_PROCESS))
    return `The app "${app.name}" is stopped.`;
  if (serving.length > 0 && serving.every((unit) => unit.process !== ROUTED_PROCESS))
    return `The app "${app.name}" has no process "${ROUTED_PROCESS}" that would answer requests.`;
  return `No unit of the app "${app.name}" is able to answer right now.`;
}
