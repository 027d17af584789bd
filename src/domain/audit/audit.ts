/**
 * Keeps the audit trail. A change and its event are one transaction: the first one of an action carries the event, so that nothing
 * is changed without being recorded, whenever the platform dies. How it ended is added at the end.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomHex } from '../../lib/ids.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { type Caller, callerName } from '../caller.ts';
import { toPlatformError } from '../errors.ts';
import type { Store, StoreWriter } from '../store.ts';
import { announce } from '../webhooks/occurrence.ts';
import { merged, ObservedTransaction } from './changes.ts';
import type { EventChange, PlatformEvent } from './events.ts';
import { cut, Refusals } from './refusals.ts';

/** What is longer is cut, for callers decide of how many names a change consists. */
const MAX_TARGET = 300;
const MAX_DETAIL = 1_000;

export interface AuditedAction {
  readonly caller: Caller;
  readonly action: string;
  readonly target: string;
  /** Free of secrets. */
  readonly detail?: string;
}

/** What doors need: they see what is refused before any use case does. */
export interface RefusalLog {
  /** Records an attempt that failed before or outside of an action; what is recorded already is left alone. Never throws. */
  refused(attempt: AuditedAction, thrown: unknown): void;
}

interface Entry {
  readonly event: PlatformEvent;
  state: 'unwritten' | 'written' | 'ended';
  deploy: string;
  changes: readonly EventChange[];
}

type EventStore = Pick<Store, 'transact'>;

export class Audit implements RefusalLog {
  readonly #store: EventStore;
  readonly #logger: Logger;
  readonly #now: () => Date;
  readonly #refusals: Refusals;
  readonly #current = new AsyncLocalStorage<Entry>();
  readonly #recorded = new WeakSet<object>();

  constructor(deps: { store: EventStore; logger: Logger; now: () => Date }) {
    this.#store = deps.store;
    this.#logger = deps.logger;
    this.#now = deps.now;
    this.#refusals = new Refusals({ now: deps.now, write: (event) => this.#insert(event) });
  }

  /** The same store, whose transactions carry the event of the action that they are part of. */
  recording(store: Store): Store {
    const transact = <T>(work: (tx: StoreWriter) => Promise<T>): Promise<T> => this.#transact(store, work);
    return new Proxy(store, {
      get: (target, name): unknown => (name === 'transact' ? transact : Reflect.get(target, name)),
    });
  }

  /** Does the work as the action of the attempt. */
  async record<T>(attempt: AuditedAction, work: () => Promise<T>): Promise<T> {
    const entry: Entry = { event: this.#eventOf(attempt), state: 'unwritten', deploy: '', changes: [] };
    try {
      const result = await this.#current.run(entry, work);
      await this.#end(entry, '');
      return result;
    } catch (thrown) {
      this.#remember(thrown);
      await this.#end(entry, toPlatformError(thrown).code);
      throw thrown;
    }
  }

  refused(attempt: AuditedAction, thrown: unknown): void {
    if (typeof thrown === 'object' && thrown !== null && this.#recorded.has(thrown)) return;
    this.#remember(thrown);
    const event = this.#eventOf(attempt);
    this.#refusals.add({ ...event, endedAt: event.at, error: toPlatformError(thrown).code, isRefusal: true });
  }

  /** Writes what is counted and not written yet. */
  close(): Promise<void> {
    return this.#refusals.close();
  }

  async #transact<T>(store: EventStore, work: (tx: StoreWriter) => Promise<T>): Promise<T> {
    const entry = this.#current.getStore();
    if (entry === undefined || entry.state === 'ended') return store.transact(work);
    const carriesEvent = entry.state === 'unwritten';
    if (carriesEvent) entry.state = 'written';
    let seen: { deploy: string; changes: readonly EventChange[] } = { deploy: '', changes: [] };
    try {
      const result = await store.transact(async (tx) => {
        const observed = new ObservedTransaction(tx, entry.event.target);
        const result = await work(observed.tx);
        seen = { deploy: observed.deploy, changes: await observed.changes() };
        if (carriesEvent) await tx.insertEvent(entry.event);
        return result;
      });
      if (seen.deploy !== '') entry.deploy = seen.deploy;
      entry.changes = merged(entry.changes, seen.changes);
      return result;
    } catch (error) {
      // An action that has ended meanwhile has recorded that itself.
      if (carriesEvent && this.#isUnended(entry)) entry.state = 'unwritten';
      throw error;
    }
  }

  #isUnended({ state }: Entry): boolean {
    return state !== 'ended';
  }

  async #end(entry: Entry, error: string): Promise<void> {
    const { deploy, changes } = entry;
    const end = { endedAt: this.#now().toISOString(), error, deploy, changes };
    const isWritten = entry.state === 'written';
    entry.state = 'ended';
    await bestEffort(this.#logger, 'recording the end of an event', () =>
      this.#store.transact(async (tx) => {
        if (isWritten) await tx.endEvent(entry.event.id, end);
        else await tx.insertEvent({ ...entry.event, ...end });
        if (error === 'quota.exceeded') await announceQuota(tx, { ...entry.event, ...end });
      }),
    );
  }

  #insert(event: PlatformEvent): Promise<void> {
    return bestEffort(this.#logger, 'recording an event', () => this.#store.transact((tx) => tx.insertEvent(event)));
  }

  #remember(thrown: unknown): void {
    if (typeof thrown === 'object' && thrown !== null) this.#recorded.add(thrown);
  }

  #eventOf({ caller, action, target, detail = '' }: AuditedAction): PlatformEvent {
    return {
      id: randomHex(24),
      at: this.#now().toISOString(),
      endedAt: '',
      actor: callerName(caller),
      token: tokenOf(caller),
      address: 'address' in caller ? caller.address : '',
      action,
      target: cut(target, MAX_TARGET),
      detail: cut(detail, MAX_DETAIL),
      error: '',
      isRefusal: false,
      deploy: '',
      changes: [],
    };
  }
}

/** A quota that is reached is announced once in so long, however often it is tried. */
const QUOTA_QUIET_MS = 60 * 60_000;

async function announceQuota(tx: StoreWriter, { target, actor, action, endedAt }: PlatformEvent): Promise<void> {
  // A new app of that name is not the one that has it.
  const app = action !== 'app.create' && target.startsWith('app:') ? target.slice('app:'.length) : '';
  const message = `${action} by ${actor} was refused: a quota is reached.`;
  await announce(
    tx,
    { kind: 'quota.reached', app, by: actor, message, facts: { action }, quietMs: QUOTA_QUIET_MS },
    endedAt,
  );
}

/** Enough of the hash to distinguish tokens, and nothing of the token. */
const SHOWN_HASH = 16;

function tokenOf(caller: Caller): string {
  if (caller.kind !== 'user' && caller.kind !== 'app') return '';
  const how = caller.kind === 'app' ? 'app-token' : caller.via;
  return caller.tokenHash === '' ? how : `${how} ${caller.tokenHash.slice(0, SHOWN_HASH)}`;
}
