/** Which edges there are elsewhere, as all servers know it: one text in the store, for there are few of them and they seldom come and go. */
import type { SettingReader, SettingWriter } from '../store.ts';
import type { EdgeGreeting } from './remote-edge.ts';

const KEY = 'edges.known';
const DAY_MS = 86_400_000;
const MOST_KNOWN = 1_000;

/** Times are ISO 8601 UTC. */
export interface EdgeRecord extends EdgeGreeting {
  /** That it followed last. */
  readonly server: string;
  readonly since: string;
  /** When its connection was lost, and no other came; null: it follows. */
  readonly lostAt: string | null;
}

interface EdgeRecordsDeps {
  readonly store: SettingReader & { transact<T>(work: (tx: SettingReader & SettingWriter) => Promise<T>): Promise<T> };
  readonly server: string;
  readonly now: () => Date;
}

export class EdgeRecords {
  readonly #deps: EdgeRecordsDeps;

  constructor(deps: EdgeRecordsDeps) {
    this.#deps = deps;
  }

  async all(): Promise<EdgeRecord[]> {
    return recordsIn(await this.#deps.store.setting(KEY));
  }

  came(greeting: EdgeGreeting): Promise<void> {
    const { server, now } = this.#deps;
    const record = { ...greeting, server, since: now().toISOString(), lostAt: null };
    return this.#change((records) => [...records.filter(({ name }) => name !== greeting.name), record]);
  }

  /** Nobody waits for it any more. */
  left({ name, instance }: EdgeGreeting): Promise<void> {
    return this.#change((records) => records.filter((one) => one.name !== name || one.instance !== instance));
  }

  /** Unless it follows another server by now. */
  lost({ name, instance }: EdgeGreeting): Promise<void> {
    const { server, now } = this.#deps;
    const isIt = (one: EdgeRecord): boolean => one.name === name && one.instance === instance && one.server === server;
    return this.#change((records) =>
      records.map((one) => (isIt(one) ? { ...one, lostAt: one.lostAt ?? now().toISOString() } : one)),
    );
  }

  /** Those that have been lost for a day are forgotten. */
  #change(change: (records: readonly EdgeRecord[]) => EdgeRecord[]): Promise<void> {
    const { store, now } = this.#deps;
    const oldest = new Date(now().getTime() - DAY_MS).toISOString();
    return store.transact(async (tx) => {
      const records = change(recordsIn(await tx.setting(KEY)));
      const kept = records.filter(({ lostAt }) => lostAt === null || lostAt > oldest);
      await tx.setSetting(KEY, JSON.stringify(kept.slice(-MOST_KNOWN)));
    });
  }
}

function recordsIn(text: string | null): EdgeRecord[] {
  return text === null ? [] : (JSON.parse(text) as EdgeRecord[]);
}
