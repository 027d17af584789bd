/** News over LISTEN and NOTIFY, on a connection of its own. */
import type { Client } from 'pg';
import type { News, NewsListener, Topic } from '../../../domain/controls/news.ts';
import { atMost } from '../../../lib/deadline.ts';
import { randomHex } from '../../../lib/ids.ts';
import { KeyedQueue } from '../../../lib/keyed-queue.ts';
import type { Logger } from '../../../lib/logger.ts';
import { retry } from '../../../lib/retry.ts';

interface PostgresNewsOptions {
  readonly url: string;
  readonly logger: Logger;
  /** Listeners look for changes themselves so often, whatever news they receive; ten seconds when absent. */
  readonly lookEveryMs?: number;
}

const CHANNEL = 'tancho_news';
/** News published meanwhile is sent together. */
const GATHER_MS = 20;
const LOOK_EVERY_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** A connection that has been lost without a word is noticed by a question that is not answered. */
const ANSWER_TIMEOUT_MS = 5_000;
const PAUSES = { firstPauseMs: 100, longestPauseMs: 500 };
/** PostgreSQL takes less than 8,000 bytes at a time. */
const MAX_PAYLOAD = 7_000;
/** Of more than so many, each listener had better look for itself. */
const MAX_GATHERED = 1_000;

export async function createPostgresNews(options: PostgresNewsOptions): Promise<News> {
  const news = new PostgresNews(options);
  await news.open();
  return news;
}

type Item = readonly [topic: string, subject: string];

class PostgresNews implements News {
  readonly #options: PostgresNewsOptions;
  readonly #own = randomHex(8);
  readonly #listeners = new Map<string, Set<NewsListener>>();
  readonly #closed = new AbortController();
  #client: Client | null = null;
  /** Of what the client is asked: pg takes one question after the other only. */
  #turns = new KeyedQueue();
  /** News was published that could not be sent. */
  #hasLost = false;
  #opening: Promise<void> | null = null;
  #gathered = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #looking: NodeJS.Timeout | null = null;

  constructor(options: PostgresNewsOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    await this.#reopen();
    this.#looking = setInterval(() => this.#look(), this.#options.lookEveryMs ?? LOOK_EVERY_MS).unref();
  }

  publish(topic: Topic, subject: string): void {
    if (this.#closed.signal.aborted) return;
    this.#gathered.add(JSON.stringify([topic, subject]));
    this.#timer ??= setTimeout(() => void this.#send(), GATHER_MS).unref();
  }

  on(topic: Topic, listener: NewsListener): void {
    const known = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, known.add(listener));
  }

  async close(): Promise<void> {
    await this.#send();
    this.#closed.abort();
    if (this.#looking !== null) clearInterval(this.#looking);
    await this.#opening?.catch(() => undefined);
    const client = this.#client;
    this.#client = null;
    // It waits for the other end, which a network may have swallowed.
    if (client !== null)
      await atMost(
        ANSWER_TIMEOUT_MS,
        client.end().catch(() => undefined),
      );
  }

  async #send(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const gathered = [...this.#gathered];
    this.#gathered = new Set();
    if (gathered.length === 0) return;
    const client = this.#client;
    if (client === null) return void (this.#hasLost = true);
    const payloads = gathered.length > MAX_GATHERED ? [this.#anyNews] : this.#payloads(gathered);
    try {
      const text = 'select pg_notify($1, payload) from unnest($2::text[]) as payload';
      await this.#turns.run('', () => client.query({ text, values: [CHANNEL, payloads] }));
    } catch (error) {
      this.#hasLost = true;
      this.#options.logger.warn({ err: error }, 'the other controls could not be sent what happened');
    }
  }

  /** That anything may have happened. */
  get #anyNews(): string {
    return `["${this.#own}"]`;
  }

  #payloads(gathered: readonly string[]): string[] {
    const payloads: string[] = [];
    let items: string[] = [];
    let bytes = 0;
    const put = (): void => void payloads.push(`["${this.#own}",${items.join(',')}]`);
    for (const item of gathered) {
      const size = Buffer.byteLength(item) + 1;
      // What is too long for one would take with it what is sent together with it.
      if (size > MAX_PAYLOAD) {
        payloads.push(this.#anyNews);
        continue;
      }
      if (bytes + size > MAX_PAYLOAD && items.length > 0) {
        put();
        [items, bytes] = [[], 0];
      }
      items.push(item);
      bytes += size;
    }
    if (items.length > 0) put();
    return payloads;
  }

  #heard(payload: string): void {
    const [from, ...items] = JSON.parse(payload) as [string, ...Item[]];
    if (from === this.#own) return;
    if (items.length === 0) return this.#anything();
    for (const [topic, subject] of items) {
      for (const listener of this.#listeners.get(topic) ?? []) listener(subject);
    }
  }

  #anything(): void {
    for (const listeners of this.#listeners.values()) for (const listener of listeners) listener(null);
  }

  #look(): void {
    this.#anything();
    const client = this.#client;
    if (client === null) return;
    this.#turns.run('', () => client.query('select 1')).catch((error: unknown) => this.#lost(client, error));
  }

  #lost(client: Client, error: unknown): void {
    if (this.#client !== client || this.#closed.signal.aborted) return;
    this.#options.logger.warn({ err: error }, 'the connection for news of the other controls was lost');
    this.#client = null;
    client.end().catch(() => undefined);
    void this.#reopen();
  }

  #reopen(): Promise<void> {
    const onError = (err: unknown): void =>
      this.#options.logger.warn({ err }, 'there is no connection for news of the other controls, trying again');
    this.#opening ??= retry(() => this.#connect(), { ...PAUSES, signal: this.#closed.signal, onError }).finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #connect(): Promise<void> {
    const { default: pg } = await import('pg');
    const client = new pg.Client({
      connectionString: this.#options.url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
      application_name: 'tancho news',
    });
    const onError = (error: Error): void => this.#lost(client, error);
    client.on('error', onError);
    client.on('end', () => onError(new Error('The connection has ended.')));
    client.on('notification', ({ payload = '[]' }) => this.#heard(payload));
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      if (this.#hasLost) await client.query({ text: 'select pg_notify($1, $2)', values: [CHANNEL, this.#anyNews] });
      this.#hasLost = false;
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    if (this.#closed.signal.aborted) return client.end();
    [this.#client, this.#turns] = [client, new KeyedQueue()];
    // News sent before is lost.
    this.#anything();
  }
}
