/** An edge on another machine, while it follows this server: handed tables as the edge of this machine is, and asked what that is asked. */
import { Turns } from '../../lib/turns.ts';
import type { AccessEntry, AppTraffic, CertificateSet, RouteTable } from '../routes/router.ts';
import { ofEach } from '../routes/counted-apps.ts';
import { changeBetween } from '../routes/table-change.ts';
import { accessEntriesIn, allTrafficIn, trafficIn } from './edge-answers.ts';
import type { EdgeLine } from './edge-line.ts';
import { EdgeLost } from './edge-lost.ts';

const APPLY_MS = 15_000;
const TRAFFIC_MS = 5_000;
const DRAIN_SLACK_MS = 5_000;
/** At one time. */
const QUESTIONS = 32;

/** What an edge says of itself when it comes. */
export interface EdgeGreeting {
  /** Unique among all edges of the installation. */
  readonly name: string;
  /** Of its home: the same after it was started again. */
  readonly instance: string;
  /** Version of the program. */
  readonly program: string;
  /** Where the connection comes from. */
  readonly address: string;
}

export class RemoteEdge {
  readonly greeting: EdgeGreeting;
  readonly line: EdgeLine;
  /** The table that it has taken last. */
  #handed: RouteTable | null = null;
  #handing: Promise<void> = Promise.resolve();

  constructor(greeting: EdgeGreeting, line: EdgeLine) {
    this.greeting = greeting;
    this.line = line;
  }

  get name(): string {
    return this.greeting.name;
  }

  /** Version of the table that it serves by; null: it has none of this server yet. */
  get tableVersion(): number | null {
    return this.#handed?.version ?? null;
  }

  /** Resolves when it serves by the table, and rejects when that cannot be said: then its connection has ended. One after the other. */
  apply(table: RouteTable): Promise<void> {
    const handed = this.#handing.then(() => this.#hand(table));
    this.#handing = handed.catch(() => {});
    return handed;
  }

  async applyCertificates(set: CertificateSet): Promise<void> {
    await this.#demand('apply-certificates', { set });
  }

  /** How many requests are left. */
  async drained(units: readonly string[], timeoutMs: number): Promise<number> {
    const open = await this.line.ask('drained', { units, timeoutMs }, timeoutMs + DRAIN_SLACK_MS);
    return typeof open === 'number' ? open : 0;
  }

  async traffic(app: string): Promise<AppTraffic> {
    return this.#validated(trafficIn(await this.line.ask('traffic', { app }, TRAFFIC_MS)));
  }

  async trafficOf(apps: readonly string[]): Promise<ReadonlyMap<string, AppTraffic>> {
    try {
      return ofEach(apps, this.#validated(allTrafficIn(await this.line.ask('all-traffic', {}, TRAFFIC_MS))));
    } catch (error) {
      if (error instanceof EdgeLost) throw error;
      // One of an earlier version refuses what it does not know. A question that it has no time for ends the connection.
      const turns = new Turns(QUESTIONS);
      const each = apps.map((app) => turns.run(async () => [app, await this.traffic(app)] as const));
      return new Map(await Promise.all(each));
    }
  }

  async takeAccessLog(): Promise<readonly AccessEntry[]> {
    return this.#validated(accessEntriesIn(await this.line.ask('access-log', {}, TRAFFIC_MS)));
  }

  /** Resolves with a sign of life. */
  async alive(withinMs: number): Promise<void> {
    await this.line.ask('hello', {}, withinMs);
  }

  #validated<T>(answer: T | null): T {
    if (answer !== null) return answer;
    this.line.end('not what an edge says');
    throw new EdgeLost('the edge gave an answer that is not valid');
  }

  /** What is new only, where it has a table of this connection. */
  async #hand(table: RouteTable): Promise<void> {
    const handed = this.#handed;
    if (handed !== null && handed.version >= table.version) return;
    const change = handed === null ? null : changeBetween(handed, table);
    this.#handed = null;
    if (change === null || (await this.#demand('change', { change })) === null) await this.#demand('apply', { table });
    this.#handed = table;
  }

  /** An edge that does not take what it is to go by must come again, and get all of it. */
  async #demand(op: string, fields: object): Promise<unknown> {
    try {
      return await this.line.ask(op, fields, APPLY_MS);
    } catch (error) {
      this.line.end('what it was handed was not taken');
      throw error;
    }
  }
}
