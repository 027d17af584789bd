/**
 * Objects that are known at all times: listed once, then followed by watches, each of which goes on where the one before ended. Listed
 * anew only when the server has forgotten what came since (410); what has changed meanwhile is reported then.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { KubernetesClient, Where } from './client.ts';
import type { Kind } from './kinds.ts';
import { EXPIRED, isPassing, isStatus } from './kubernetes-error.ts';
import type { KubernetesObject } from './objects.ts';

const FIRST_PAUSE_MS = 100;
/** An API server that was away is followed again within a second of its return: what nobody watches for longer holds up every rollout. */
const LONGEST_PAUSE_MS = 1_000;
/** Where it refuses, or there is no login, which people change. */
const REFUSED_PAUSE_MS = 10_000;
/** A pass that lasted so long was none in vain. */
const SHORT_PASS_MS = 10_000;

interface Change<T> {
  /** Null: it is gone. */
  readonly now: T | null;
  /** Null: it was not known. */
  readonly before: T | null;
}

interface FollowOptions<T extends KubernetesObject> {
  readonly client: KubernetesClient;
  readonly kind: Kind<T>;
  readonly where: Where;
  /** What of an object is remembered, and reported; it has metadata with name, namespace, uid and resourceVersion. Absent: all of it. */
  readonly kept?: (object: T) => T;
  /** In the order of the server, one after the other; `objects` has it already. */
  readonly onChange: (change: Change<T>) => void;
  /** Called when the server is not reached or refuses, and again when the reason is another one; it is tried again until it does not. */
  readonly onError: (error: unknown) => void;
  readonly stallMs?: number;
  /** Of a list: waited for before a page is read and the next one is asked for. */
  readonly turn?: () => Promise<void> | undefined;
}

export interface Following<T> {
  /** By `namespace/name`. */
  readonly objects: ReadonlyMap<string, T>;
  /** When all that was there has been reported. Never rejects: a server that is not reached is waited for. */
  readonly synced: Promise<void>;
  /** When that is so, or the server was not reached for the first time. */
  readonly tried: Promise<void>;
  /** What keeps it from knowing what there is now; null: nothing. */
  readonly trouble: string | null;
  close(): Promise<void>;
}

export function keyOf({ metadata: { namespace = '', name } }: KubernetesObject): string {
  return `${namespace}/${name}`;
}

export function follow<T extends KubernetesObject>(options: FollowOptions<T>): Following<T> {
  const { client, kind, where, onError, turn, kept = (object: T): T => object } = options;
  const stop = new AbortController();
  const known = new Known(options.onChange);
  let resolveSynced: () => void = () => {};
  const synced = new Promise<void>((resolve) => (resolveSynced = resolve));
  let resolveTried: () => void = () => {};
  const tried = new Promise<void>((resolve) => (resolveTried = resolve));
  let trouble: string | null = 'it has not answered yet';
  const { signal } = stop;

  /** Apart from the watch, which would keep what was listed for as long as it lasts. */
  async function listAll(): Promise<string> {
    const listing = await client.list(kind, where, { signal, kept, ...(turn !== undefined && { turn }) });
    known.replace(listing.items);
    trouble = null;
    resolveSynced();
    resolveTried();
    return listing.resourceVersion;
  }

  async function onePass(from: string | null): Promise<string | null> {
    const version = from ?? (await listAll());
    known.version = version;
    const onOpen = (): void => void (trouble = null);
    const watch = { signal, onOpen, ...(options.stallMs !== undefined && { stallMs: options.stallMs }) };
    for await (const event of client.watch(kind, where, version, watch)) {
      if (event.kind === 'bookmark') known.version = event.resourceVersion;
      else known.take(event.kind, kept(event.object));
    }
    return known.version;
  }

  async function run(): Promise<void> {
    let from: string | null = null;
    let pauseMs = FIRST_PAUSE_MS;
    let said: string | null = null;
    while (!signal.aborted) {
      const begun = { at: Date.now(), version: known.version };
      let longestMs = LONGEST_PAUSE_MS;
      try {
        from = await onePass(from);
      } catch (error) {
        if (signal.aborted) return;
        const isExpired = isStatus(error, EXPIRED);
        from = isExpired ? null : known.version;
        const why = error instanceof Error ? error.message : String(error);
        if (why !== said) onError(error);
        said = trouble = why;
        if (!isExpired && !isPassing(error)) longestMs = REFUSED_PAUSE_MS;
        resolveTried();
      }
      // After a pass that lasted a while the next begins at once, after a short one that received something soon.
      const isShort = Date.now() - begun.at < SHORT_PASS_MS;
      const isStuck = isShort && known.version === begun.version;
      if (!isStuck) said = null;
      pauseMs = isStuck ? Math.min(longestMs, pauseMs * 2) : FIRST_PAUSE_MS;
      if (isShort) await delay(pauseMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
    }
  }

  const running = run();
  return {
    objects: known.objects,
    synced,
    tried,
    get trouble() {
      return trouble;
    },
    async close() {
      stop.abort();
      await running;
    },
  };
}

class Known<T extends KubernetesObject> {
  readonly objects = new Map<string, T>();
  /** Up to which everything is in `objects`; null before the first list. */
  version: string | null = null;
  readonly #onChange: (change: Change<T>) => void;

  constructor(onChange: (change: Change<T>) => void) {
    this.#onChange = onChange;
  }

  take(kind: 'put' | 'gone', object: T): void {
    const key = keyOf(object);
    const before = this.objects.get(key) ?? null;
    if (kind === 'put') this.objects.set(key, object);
    else this.objects.delete(key);
    this.version = object.metadata.resourceVersion ?? this.version;
    this.#onChange({ now: kind === 'put' ? object : null, before });
  }

  replace(items: readonly T[]): void {
    const now = new Map(items.map((item) => [keyOf(item), item]));
    for (const [key, before] of this.objects) {
      if (now.has(key)) continue;
      this.objects.delete(key);
      this.#onChange({ now: null, before });
    }
    for (const [key, item] of now) {
      const before = this.objects.get(key) ?? null;
      if (before !== null && isSame(before, item)) continue;
      this.objects.set(key, item);
      this.#onChange({ now: item, before });
    }
  }
}

function isSame({ metadata: one }: KubernetesObject, { metadata: other }: KubernetesObject): boolean {
  return one.resourceVersion === other.resourceVersion && one.uid === other.uid;
}
