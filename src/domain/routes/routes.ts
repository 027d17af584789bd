/** Keeps the router's table equal to what the store says serves. Owns when a table is published, not how. */
import { isDeepStrictEqual } from 'node:util';
import type { Route, Router, Target } from './router.ts';
import type { App } from '../apps/app.ts';
import { rulesOf } from '../apps/edge-settings.ts';
import { hostNamesOf } from '../apps/host-names.ts';
import { ROUTED_PROCESS, servingUnits, type Unit } from '../units/unit.ts';
import { type RouteFault, routeFaults } from './route-faults.ts';
import type { LinkedApp, Provisioner } from '../units/provisioner.ts';
import { PlatformError, toPlatformError } from '../errors.ts';
import type { Store } from '../store.ts';
import { type News, NO_NEWS } from '../controls/news.ts';
import type { Logger } from '../../lib/logger.ts';

const RETRY_MS = 250;
const GIVE_UP_MS = 60_000;
const RESERVED = 'routes.reserved_version';
/** So many tables are published between two writes of the reserve. */
const RESERVE = 10_000;
/** Of more apps than these everything is read at once. */
const MOST_READ_ALONE = 50;

interface RoutesDeps {
  readonly store: Store;
  readonly router: Router;
  readonly provisioner: Pick<Provisioner, 'link' | 'routed' | 'processOf'>;
  readonly domain: string;
  readonly logger: Logger;
  readonly now: () => Date;
  /** How long a router that does not take a table is tried; a minute when absent. */
  readonly giveUpMs?: number;
  /** Called with every table that the router has taken. */
  readonly onPublished?: () => void;
  readonly news?: News;
}

/** What of the platform is in a route. */
interface RouteFacts {
  readonly domain: string;
  readonly processOf: Provisioner['processOf'];
}

/** What is published of one app. */
interface Entry {
  /** That of `web` first. */
  readonly routes: readonly Route[];
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
  readonly #news: News;
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
    this.#news = deps.news ?? NO_NEWS;
    this.#news.on('routes', (app) => this.#follow(app));
  }

  /**
   * Resolves when the router serves these apps, all where none is named, by what was read from the store after this call. Calls that
   * arrive while one is under way share the one that follows it. Throws `unavailable` when the router stays out of reach.
   */
  publish(...apps: readonly string[]): Promise<void> {
    this.#markStale(apps.length === 0 ? 'all' : apps);
    for (const app of apps.length === 0 ? [''] : apps) this.#news.publish('routes', app);
    return this.#publishStale();
  }

  /** publish() for a change that stays, whatever the router says. Throws `unavailable`, which says so: to repeat a swap would undo it. */
  async publishStored(...apps: readonly string[]): Promise<void> {
    try {
      await this.publish(...apps);
    } catch (error) {
      const { code, message, hint } = toPlatformError(error);
      const stored = 'The change is stored, and takes effect by itself as soon as that works: do not repeat it.';
      throw new PlatformError(code, message, { cause: error, hint: `${stored} ${hint ?? ''}`.trim() });
    }
  }

  /** publish() for another control, which has notified all controls. */
  publishFor(apps: readonly string[]): Promise<void> {
    this.#markStale(apps);
    return this.#publishStale();
  }

  /** Resolves when the router serves by what the store had after this call, whether or not it heard of the changes. */
  async refresh(): Promise<void> {
    if (isDeepStrictEqual(await this.#readAll(), this.#published)) return;
    this.#markStale('all');
    await this.#publishStale();
  }

  /** What another control has changed; where nobody knows what, nothing is published that is known already. */
  #follow(app: string | null): void {
    const following = async (): Promise<void> => {
      if (app !== null && app !== '') return this.publishFor([app]);
      if (app === '') {
        this.#markStale('all');
        return this.#publishStale();
      }
      if (!isDeepStrictEqual(await this.#readAll(), this.#published)) return this.republish();
    };
    following().catch((error: unknown) => {
      this.#logger.error({ err: error }, 'the routes that another control has changed are not published');
    });
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
    return this.#published.get(app)?.routes.flatMap(({ targets }) => targets) ?? [];
  }

  /** Some app has its requests logged. */
  get isLogging(): boolean {
    for (const { routes } of this.#published.values()) if (routes[0]?.rules?.accessLog === true) return true;
    return false;
  }

  /** Where the router's table is not what the store says; empty: nowhere. */
  async faults(): Promise<RouteFault[]> {
    const [known, wanted] = [await this.#router.table(), await this.#read('all')];
    return routeFaults(
      known.routes,
      [...wanted.values()].flatMap(({ routes }) => routes),
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
        const routes = [...entries.values()].flatMap((entry) => entry.routes);
        const table = { version: await this.#nextVersion(), routes };
        await Promise.all([this.#router.apply(table), this.#link(entries)]);
        this.#published = entries;
        this.#provisioner.routed?.(new Set(routes.flatMap(({ targets }) => targets.map(({ unit }) => unit))));
        this.#onPublished();
        return;
      } catch (error) {
        this.#markStale(stale);
        if (Date.now() > deadline) {
          throw givenUp(error);
        }
        this.#logger.warn({ err: error }, 'the route table was not published, trying again');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #link(entries: ReadonlyMap<string, Entry>): Promise<void> {
    try {
      await this.#provisioner.link(linkedApps(entries));
    } catch (cause) {
      throw new LinkFault('the engine does not let linked apps reach each other', { cause });
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
      else entries.set(name, await this.#entryOf(app, await this.#store.units(name)));
    }
    return entries;
  }

  async #readAll(): Promise<Map<string, Entry>> {
    const [apps, units] = await Promise.all([this.#store.apps(), this.#store.unitsByApp()]);
    const routed = apps.filter((app) => !app.removing);
    const entries = new Map<string, Entry>();
    for (const app of routed) entries.set(app.name, await this.#entryOf(app, units.get(app.name) ?? []));
    return entries;
  }

  async #entryOf(app: App, units: readonly Unit[]): Promise<Entry> {
    const rules = rulesOf(app.edge, await this.#pageOf(app));
    return {
      routes: routesOf(app, units, this.#facts).map((route) => ({ ...route, ...(rules && { rules }) })),
      links: app.links,
    };
  }

  /** Read only where it is shown. */
  async #pageOf({ name, release, edge }: App): Promise<string> {
    if (!edge.maintenance || edge.maintenancePage !== '' || release === null) return '';
    return (await this.#store.release(name, release))?.maintenancePage ?? '';
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

class LinkFault extends Error {}

/** What publish() throws in the end. */
function givenUp(cause: unknown): PlatformError {
  if (cause instanceof LinkFault) {
    const hint = "The server's log has the details.";
    return new PlatformError('unavailable', 'The networks of linked apps cannot be changed.', { cause, hint });
  }
  const hint = 'See the log of the edge in the home directory.';
  return new PlatformError('unavailable', 'The router does not take the new routes; it serves by those of before.', {
    cause,
    hint,
  });
}

/** Sorted by name; who takes requests from outside takes them from linked apps. */
function linkedApps(entries: ReadonlyMap<string, Entry>): LinkedApp[] {
  const from = new Map<string, string[]>();
  for (const [app, { links }] of entries) {
    for (const to of links) if (entries.has(to)) from.set(to, [...(from.get(to) ?? []), app].sort());
  }
  const linked = [...from].map(([app, by]) => {
    const targets = entries.get(app)?.routes[0]?.targets ?? [];
    return { app, from: by, targets: targets.map(({ unit, port }) => ({ unit, port })) };
  });
  return linked.sort((one, other) => (one.app < other.app ? -1 : 1));
}

/** Only units of the app's serving rollout that are started and have an address are targets. */
function routesOf(app: App, units: readonly Unit[], { domain, processOf }: RouteFacts): Route[] {
  const serving = servingUnits(app, units);
  const names = hostNamesOf(app, domain);
  return [ROUTED_PROCESS, ...app.routedProcesses].map((process): Route => {
    const targets = serving.flatMap((unit): Target[] => {
      const { id, state, address } = unit;
      if (unit.process !== process || state !== 'started' || address === null) return [];
      const first = processOf(id);
      return [{ unit: id, host: address.host, port: address.port, ...(first !== null && { process: first }) }];
    });
    return {
      app: app.name,
      ...(process !== ROUTED_PROCESS && { process }),
      hosts: names.filter((one) => one.process === process).map(({ name }) => name),
      targets,
      note: targets.length > 0 ? '' : noteOf(app, serving, process),
      https: app.edge.redirectHttps ? 'redirect' : 'both',
    };
  });
}

function noteOf({ name, release, desired, stoppedProcesses }: App, serving: readonly Unit[], process: string): string {
  if (release === null) return `The app "${name}" has not been deployed yet.`;
  const isWeb = process === ROUTED_PROCESS;
  const what = isWeb ? `the app "${name}"` : `the process "${process}" of the app "${name}"`;
  if (desired === 'stopped') return `The app "${name}" is stopped.`;
  if (stoppedProcesses.includes(process)) return `T${what.slice(1)} is stopped.`;
  if (isWeb && serving.length > 0 && serving.every((unit) => unit.process !== process))
    return `The app "${name}" has no process "${process}" that would answer requests.`;
  return `No unit of ${what} is able to answer right now.`;
}
