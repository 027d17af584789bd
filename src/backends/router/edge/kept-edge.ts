/** The edge as the keeper sees it: adopted as it is, started again when it dies, notified of where a unit serves now. */
import { performance } from 'node:perf_hooks';
import type { Route, RouteTable, Target } from '../../../domain/routes/router.ts';
import { ROUTED_PROCESS } from '../../../domain/units/unit.ts';
import { bestEffort, type Logger } from '../../../lib/logger.ts';
import { EdgeConnection } from './edge-connection.ts';
import type { EdgeRouterOptions } from './edge-options.ts';
import { type EdgeProgram, endEdge, pathsOf, spawnEdge } from './edge-process.ts';

const CONNECT_MS = 2_000;
const ASK_MS = 15_000;
const POLL_MS = 20;
const FIRST_RESTART_MS = 50;
const LAST_RESTART_MS = 10_000;
/** An edge is given so long to answer before another one is started. */
const PATIENCE_MS = 15_000;

/** Whose units serve there. */
interface Process {
  readonly app: string;
  readonly process: string;
  readonly rollout?: string;
}

export class KeptEdge {
  readonly #options: EdgeRouterOptions;
  readonly #program: EdgeProgram;
  readonly #logger: Logger;
  #client: EdgeConnection | null = null;
  #isClosed = false;
  #restartMs = FIRST_RESTART_MS;
  /** By unit; without a target it serves nowhere. */
  readonly #places = new Map<string, Process & { readonly unit: string; readonly target: Target | null }>();
  /** Units that control had routed to, by route. What is not among them may be of a rollout that is not committed, or on its way out. */
  readonly #chosen = new Map<string, ReadonlySet<string>>();
  #sending: Promise<void> = Promise.resolve();

  /** `options.listen` is the address that the edge serves at. */
  constructor(options: EdgeRouterOptions, program: EdgeProgram) {
    this.#options = options;
    this.#program = program;
    this.#logger = options.logger;
  }

  /** Resolves when the edge is connected; from then on it is kept. */
  async keep(): Promise<void> {
    let waitedSince = performance.now();
    while (!this.#isClosed && this.#client === null) {
      const client = await EdgeConnection.connect(pathsOf(this.#options).socket, CONNECT_MS, () => this.#lost(client));
      if (client !== null && !this.#isClosed) {
        this.#client = client;
        void bestEffort(this.#logger, 'sending the edge where units serve', () => this.#send());
        return;
      }
      client?.close();
      if (performance.now() > waitedSince) {
        await this.#startAgain();
        waitedSince = performance.now() + PATIENCE_MS;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /**
   * Requests for the unit reach it at this address from now on, and nowhere else, unless control had routed to other units only. An edge that is away
   * now is notified when it is back.
   */
  async place({ app, process, rollout }: Process, target: Target): Promise<void> {
    this.#places.set(target.unit, {
      ...{ app, process, target, unit: target.unit },
      ...(rollout !== undefined && { rollout }),
    });
    await this.#send();
  }

  /** No request is routed to the unit any more, until it has a place again. */
  async withdraw({ app, process, rollout }: Process, unit: string): Promise<void> {
    this.#places.set(unit, { ...{ app, process, unit, target: null }, ...(rollout !== undefined && { rollout }) });
    await this.#send();
  }

  /** Where requests for the unit are routed to; null: nowhere, or the edge is away. */
  async addressOf(unit: string): Promise<Pick<Target, 'host' | 'port'> | null> {
    const table = (await this.#client?.ask('table', {}, ASK_MS).catch(() => null)) as RouteTable | null | undefined;
    const target = table?.routes.flatMap(({ targets }) => targets).find((one) => one.unit === unit);
    return target === undefined ? null : { host: target.host, port: target.port };
  }

  /** One at a time: each table is the one before it, changed, and of two with the same version the edge takes the first. */
  async #send(): Promise<void> {
    const sent = this.#sending.then(() => this.#sendPlaces());
    this.#sending = sent.catch(() => {});
    return sent;
  }

  async #sendPlaces(): Promise<void> {
    const client = this.#client;
    if (client === null || this.#places.size === 0) return;
    const table = (await client.ask('table', {}, ASK_MS)) as RouteTable;
    const places = [...this.#places.values()];
    const routes = table.routes.map((route) => {
      const at = places.filter((place) => isAt(place, route));
      const chosen = at.filter(({ unit }) => this.#isChosen(route, unit));
      // Control was about to route to one of the same rollout, too.
      const rollouts = new Set(chosen.flatMap(({ rollout }) => rollout ?? []));
      const own = at.filter((place) => chosen.includes(place) || rollouts.has(place.rollout ?? ''));
      if (own.length === 0) return route;
      const others = route.targets.filter(({ unit }) => !this.#places.has(unit));
      const targets = [...others, ...own.flatMap(({ target }) => target ?? [])];
      const note =
        targets.length > 0 ? '' : route.note || `No unit of the app "${route.app}" is able to answer right now.`;
      return { ...route, targets, note };
    });
    if (JSON.stringify(routes) === JSON.stringify(table.routes)) return;
    // Versions of control are taken from a reserve that each of its starts leaves behind as a whole.
    await client.ask('apply', { table: { version: table.version + 1, routes } }, ASK_MS);
  }

  #isChosen({ app, process = ROUTED_PROCESS, targets }: Route, unit: string): boolean {
    const key = `${app} ${process}`;
    const chosen = this.#chosen.get(key) ?? new Set(targets.map((target) => target.unit));
    this.#chosen.set(key, chosen);
    return chosen.size === 0 || chosen.has(unit);
  }

  /** Leaves the edge running, to itself or to control. */
  close(): void {
    this.#isClosed = true;
    this.#client?.close();
  }

  /** Ends the edge, too. */
  async end(graceMs: number): Promise<void> {
    const hello = (await this.#client?.ask('hello', {}, CONNECT_MS).catch(() => null)) as { pid: number } | null;
    this.#isClosed = true;
    if (hello !== null && hello !== undefined) await endEdge(hello.pid, graceMs);
    // Connected until its end: one of an earlier version starts a keeper when it is left alone.
    this.close();
  }

  #lost(client: EdgeConnection | null): void {
    if (this.#isClosed || this.#client !== client || client === null) return;
    this.#client = null;
    this.#logger.warn({}, 'the edge has died and is being started again');
    void this.keep();
  }

  async #startAgain(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.#restartMs));
    this.#restartMs = Math.min(this.#restartMs * 2, LAST_RESTART_MS);
    if (this.#isClosed) return;
    try {
      const { listen, tls } = this.#options;
      await spawnEdge(this.#options, this.#program, { port: listen.port, tlsPort: tls?.port ?? 0 });
    } catch (error) {
      this.#logger.error({ err: error }, 'the edge could not be started again, next attempt follows');
    }
  }
}

function isAt({ app, process }: Process, route: Route): boolean {
  return app === route.app && process === (route.process ?? ROUTED_PROCESS);
}
