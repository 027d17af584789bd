import type { AccessEntry, AppTraffic, CertificateSet, RouteTable } from '../domain/routes/router.ts';
import type { EdgeLog } from './edge-log.ts';
import type { Link, ProcessRequest } from './link.ts';
import type { Presented } from './tls/live-certificates.ts';
import type { CountedApps } from '../domain/routes/counted-apps.ts';
import { NO_TRAFFIC } from './worker-counts.ts';

/** What an edge serves by. */
export interface InForce {
  readonly table: RouteTable;
  readonly certificates: CertificateSet;
}

/** Meanwhile both processes serve. */
const RETIRE_MS = 45_000;
const ANSWER_MS = 5_000;

/** The edge that this one has taken over from, while it finishes what it had begun: it serves by the same tables. */
export class Predecessor {
  readonly #link: Link;
  readonly #log: EdgeLog;
  /** What it, and those before it, have counted as far as is known: counters never go back. */
  readonly #counted = new Map<string, AppTraffic>();
  /** Apart from those: an app that comes to be in it has all that it was ever asked. */
  #countedOfAll: CountedApps = [];

  constructor(link: Link, log: EdgeLog) {
    this.#link = link;
    this.#log = log;
  }

  get ended(): Promise<void> {
    return this.#link.ended;
  }

  /** What stays in force there until this edge hands it something newer; null: it has ended. Of one that follows servers elsewhere. */
  async hand(): Promise<InForce | null> {
    await this.#link.awake;
    return ((await within(RETIRE_MS, this.#link.ask({ op: 'hand' }), 'hand')) ?? null) as InForce | null;
  }

  /** Resolves once it has left its control socket; from then on it takes no new connection. */
  async retire(): Promise<void> {
    await this.#link.awake;
    await within(RETIRE_MS, this.#link.ask({ op: 'retire' }), 'retire');
  }

  async apply(table: RouteTable): Promise<void> {
    await this.#askInVain({ op: 'apply', table }, ANSWER_MS);
  }

  async present(presented: Presented): Promise<void> {
    await this.#askInVain({ op: 'present', presented }, ANSWER_MS);
  }

  async drained(units: readonly string[], timeoutMs: number): Promise<number> {
    const open = await this.#askInVain({ op: 'drained', units, timeoutMs }, timeoutMs + ANSWER_MS);
    return typeof open === 'number' ? open : 0;
  }

  async traffic(app: string): Promise<AppTraffic> {
    const now = (await this.#askInVain({ op: 'traffic', app }, ANSWER_MS)) as Partial<AppTraffic> | undefined;
    // An edge of an earlier version knows less.
    const counted = now === undefined ? (this.#counted.get(app) ?? NO_TRAFFIC) : { ...NO_TRAFFIC, ...now };
    this.#counted.set(app, counted);
    return counted;
  }

  /** One of an earlier version answers for one app at a time only: of the others what it counts from now on is not known. */
  async allTraffic(): Promise<CountedApps> {
    const now = (await this.#askInVain({ op: 'all-traffic' }, ANSWER_MS)) as CountedApps | undefined;
    this.#countedOfAll = now ?? this.#countedOfAll;
    return this.#countedOfAll;
  }

  /** Empty where it knows nothing of it. */
  async takeAccessLog(): Promise<readonly AccessEntry[]> {
    const entries = await this.#askInVain({ op: 'access-log' }, ANSWER_MS);
    return Array.isArray(entries) ? (entries as AccessEntry[]) : [];
  }

  async stop(graceMs: number): Promise<void> {
    await this.#askInVain({ op: 'stop', graceMs }, graceMs + ANSWER_MS);
  }

  /** One that does not answer holds up nobody. */
  async #askInVain(request: ProcessRequest, timeoutMs: number): Promise<unknown> {
    try {
      return await within(timeoutMs, this.#link.ask(request), request.op);
    } catch (error) {
      this.#log.line(`the edge before this one: ${String(error)}`);
      return undefined;
    }
  }
}

async function within<T>(ms: number, work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer to ${what} within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
