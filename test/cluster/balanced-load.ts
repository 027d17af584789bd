/**
 * Requests at a fixed rate by way of several edges, as a balancer brings them: the edges take turns, and one that takes no connection is passed
 * over. Nothing that was sent is sent twice, and none waits for the answer to another one: where no connection is free, one more is opened.
 */
import http from 'node:http';
import { until } from '../support/until.ts';

export interface LostRequest {
  readonly app: string;
  /** Number of the edge. */
  readonly edge: number;
  /** Milliseconds, by performance.now(). */
  readonly begun: number;
  readonly ended: number;
  /** When its connection to the edge was opened; null: there was none. */
  readonly connected: number | null;
  readonly why: string;
}

interface BalancedLoadOptions {
  /** `host:port` of each. */
  readonly edges: readonly string[];
  readonly apps: readonly string[];
  readonly perSecond: number;
  /** As many stay open while nobody needs them, to each edge for each app. */
  readonly connections: number;
  /** Numbers of edges that the balancer leaves out, as its checks of their servers' health say. */
  readonly away: ReadonlySet<number>;
}

const TICK_MS = 5;
const ANSWER_MS = 60_000;
/** What is due while so many are unanswered is lost. */
const MOST_OPEN = 8_000;

export class BalancedLoad {
  readonly lost: LostRequest[] = [];
  requests = 0;
  /** By so much one has left late. */
  latestMs = 0;
  readonly #options: BalancedLoadOptions;
  readonly #agents: readonly http.Agent[];
  readonly #timer: NodeJS.Timeout;
  readonly #connected = new WeakMap<object, number>();
  #open = 0;

  constructor(options: BalancedLoadOptions) {
    this.#options = options;
    const { edges, apps, connections, perSecond } = options;
    this.#agents = edges.map(() => new http.Agent({ keepAlive: true, maxFreeSockets: connections * apps.length }));
    const begun = performance.now();
    this.#timer = setInterval(() => {
      const sinceMs = performance.now() - begun;
      for (let dueMs = 0; (dueMs = (this.requests * 1_000) / perSecond) <= sinceMs;) {
        this.latestMs = Math.max(this.latestMs, Math.round(sinceMs - dueMs));
        this.#send(this.requests++);
      }
    }, TICK_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await until(() => this.#open === 0, { timeoutMs: ANSWER_MS + 30_000, what: 'the last answers' });
    for (const agent of this.#agents) agent.destroy();
  }

  #send(number: number): void {
    const { apps, edges } = this.#options;
    const app = apps[number % apps.length] ?? '';
    const edge = Math.floor(number / apps.length) % edges.length;
    const begun = performance.now();
    if (this.#open >= MOST_OPEN)
      return void this.lost.push({ app, edge, begun, ended: begun, connected: null, why: 'too many are unanswered' });
    this.#open++;
    this.#ask(app, begun, edge, edges.length - 1);
  }

  #ask(app: string, begun: number, edge: number, others: number): void {
    const { edges, away } = this.#options;
    if (away.has(edge) && others > 0) return this.#ask(app, begun, (edge + 1) % edges.length, others - 1);
    const [host = '', port = ''] = edges[edge]?.split(':') ?? [];
    let isOver = false;
    let connected: number | null = null;
    const over = (why: string | null): void => {
      if (isOver) return;
      isOver = true;
      this.#open--;
      if (why !== null) this.lost.push({ app, edge, begun, ended: performance.now(), connected, why });
    };
    const [agent, headers] = [this.#agents[edge], { host: `${app}.localhost` }];
    const sent = http.get({ host, port, path: '/', agent, headers, timeout: ANSWER_MS }, (response) => {
      let text = '';
      response.on('data', (data: Buffer) => (text += data.toString()));
      response.on('end', () =>
        over(response.statusCode === 200 ? null : `${response.statusCode} ${text.slice(0, 300)}`),
      );
      response.on('error', (error) => over(`while reading: ${error.message}`));
    });
    sent.on('socket', (socket) => {
      const opened = (): number => {
        const at = this.#connected.get(socket) ?? performance.now();
        this.#connected.set(socket, at);
        return at;
      };
      if (sent.reusedSocket || !socket.connecting) connected = opened();
      else socket.once('connect', () => (connected = opened()));
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNREFUSED' || others === 0) return over(error.message);
      isOver = true;
      this.#ask(app, begun, (edge + 1) % edges.length, others - 1);
    });
  }
}
