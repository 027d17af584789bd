/**
 * What was begun at a provider and neither finished nor undone: found in the store, undone in the background for as long as
 * it takes, listed meanwhile. Owns how an instance or binding goes away; when it is to go is decided by instances.ts and bindings.ts.
 */
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { isPlatformError } from '../errors.ts';
import type { Leases } from '../leases.ts';
import type { Store } from '../store.ts';
import type { BoundTo, Provider } from './provider.ts';
import { type BindingSummary, type InstanceSummary, notifiedHosts } from './service.ts';
import { EndpointFailure } from './service-endpoint.ts';

export interface Orphan {
  readonly kind: 'instance' | 'binding';
  readonly id: string;
  readonly service: string;
  /** Name of the instance. */
  readonly instance: string;
  /** '' for an instance. */
  readonly app: string;
  /** When what is to be undone was begun; ISO 8601 UTC. */
  readonly since: string;
  /** How often it was tried to undo it. */
  readonly attempts: number;
  /** Why the last attempt failed; free of secrets, '' before the first. */
  readonly problem: string;
}

interface Healed {
  readonly undone: number;
  readonly remaining: readonly Orphan[];
}

interface OrphansDeps {
  readonly store: Store;
  readonly provider: Provider;
  readonly leases: Leases;
  readonly logger: Logger;
  readonly now: () => Date;
  /** How long after its beginning a provider may still carry out what it has not answered; 5 min when absent. */
  readonly lateMs?: number;
  /** Between attempts in the background; 1 s, doubled up to a minute, when absent. */
  readonly pauses?: { readonly firstMs: number; readonly longestMs: number };
}

const PAUSES = { firstMs: 1_000, longestMs: 60_000 };
const LATE_MS = 5 * 60_000;
const LATE = 'It was undone, and is asked for again for some minutes, in case the provider comes to it late.';
const LEASE_WAIT_MS = 500;
/** At once, at the provider of one service. */
const MOST_AT_ONCE = 4;
const HOLDER = 'undoing what was not finished';

interface UndoOptions {
  /** Nothing that was begun is still under way: it was answered, or somebody wants the name or the pair anew. */
  readonly isOver?: boolean;
}

/** Whether the provider is done with what has failed; who stands before it answers 408, 502 or 504 in its place. */
export function isOver({ status }: EndpointFailure): boolean {
  return status !== null && ![408, 502, 504].includes(status);
}

export function instanceLease(name: string): string {
  return `instance:${name}`;
}

/** Providers know a binding by the instance and the app, so everything about such a pair happens one after the other. */
export function bindingLease(instance: string, app: string): string {
  return `binding:${instance}/${app}`;
}

export class Orphans {
  readonly #deps: OrphansDeps;
  readonly #busy = new Set<string>();
  readonly #closed = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  /** What is being undone in turn, by service: a provider that hangs must keep no other waiting. */
  readonly #atWork = new Map<string, Promise<void>>();
  #pauseMs: number;

  constructor(deps: OrphansDeps) {
    this.#deps = deps;
    this.#pauseMs = this.#pauses.firstMs;
  }

  /** Oldest first. What an operation of this control is at work on is none. */
  async find(): Promise<Orphan[]> {
    return (await this.#unfinished()).filter(({ id }) => !this.#busy.has(id));
  }

  async #unfinished(): Promise<Orphan[]> {
    const { store } = this.#deps;
    const [instances, bindings] = await Promise.all([store.instances(), store.bindingSummaries()]);
    const byId = new Map(instances.map((instance) => [instance.id, instance]));
    const found = [
      ...instances.filter(({ state }) => state !== 'ready').map((instance) => orphanOf(instance, null)),
      ...bindings
        .filter(({ state }) => state !== 'bound')
        .map((binding) => orphanOf(byId.get(binding.instance) ?? null, binding)),
    ];
    return found.sort((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : 0));
  }

  /** Tries all of them once, but for those of a provider that lets even one of them wait in vain. Safe to repeat, and at any time. */
  async heal(): Promise<Healed> {
    const found = await this.find();
    this.#begin(found);
    await Promise.all(this.#atWork.values());
    const remaining = await this.find();
    const left = new Set(remaining.map(({ id }) => id));
    return { undone: found.filter(({ id }) => !left.has(id)).length, remaining };
  }

  /** From here on they are undone in the background; also after something new was left. */
  wake(): void {
    this.#pauseMs = this.#pauses.firstMs;
    this.#schedule(0);
  }

  /** What `work` is at work on is no orphan meanwhile. */
  async during<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.#busy.add(id);
    try {
      return await work();
    } catch (error) {
      this.#schedule(this.#pauseMs);
      throw error;
    } finally {
      this.#busy.delete(id);
    }
  }

  /**
   * The caller holds the instance's lease. Null when it is gone at the provider, otherwise why not. It is kept and tried again until
   * it is gone, and as long as what was begun may still be under way there.
   */
  async undoInstance(id: string, options: UndoOptions = {}): Promise<EndpointFailure | null> {
    const { store, provider } = this.#deps;
    const instance = await store.instanceById(id);
    if (instance === null || instance.state === 'ready') return null;
    await store.transact((tx) => tx.updateInstance(id, { state: 'removing' }));
    const service = await store.service(instance.service);
    if (service !== null) {
      const failure = await failureOf(provider.remove(service, instance));
      if (failure !== null) {
        const { attempts } = instance;
        await store.transact((tx) => tx.updateInstance(id, { attempts: attempts + 1, problem: failure.message }));
        this.#later(attempts);
        return failure;
      }
    }
    if (this.#mayComeLate(instance, options)) {
      await store.transact((tx) => tx.updateInstance(id, { attempts: instance.attempts + 1, problem: LATE }));
      this.#later(instance.attempts);
    } else await store.transact((tx) => tx.deleteInstance(id));
    return null;
  }

  #mayComeLate({ createdAt }: { readonly createdAt: string }, { isOver: over = false }: UndoOptions): boolean {
    const { now, lateMs = LATE_MS } = this.#deps;
    return !over && now().getTime() - Date.parse(createdAt) < lateMs;
  }

  /** The same for a binding that is not bound; the caller holds the lease of the pair. The app is no longer concerned. */
  async undoBinding(id: string, options: UndoOptions = {}): Promise<EndpointFailure | null> {
    const { store, provider } = this.#deps;
    const binding = await store.binding(id);
    if (binding === null || binding.state === 'bound') return null;
    await store.transact((tx) => tx.updateBinding(id, { state: 'unbinding' }));
    const instance = await store.instanceById(binding.instance);
    const service = instance === null ? null : await store.service(instance.service);
    if (instance !== null && service !== null) {
      const notified = await this.#withdraw({ service, instance, binding }, notifiedHosts(binding));
      const failure = await failureOf(provider.unbind(service, instance, binding));
      if (failure !== null) {
        const { attempts } = binding;
        await store.transact((tx) => tx.updateBinding(id, { attempts: attempts + 1, problem: failure.message }));
        this.#later(attempts);
        return failure;
      }
      await this.#withdraw({ service, instance, binding }, notified);
    }
    const isAnswered = Object.keys(binding.vars).length > 0;
    if (!isAnswered && this.#mayComeLate(binding, options)) {
      await store.transact((tx) => tx.updateBinding(id, { attempts: binding.attempts + 1, problem: LATE }));
      this.#later(binding.attempts);
    } else await store.transact((tx) => tx.deleteBinding(id));
    return null;
  }

  /** Notifies the provider that units have gone, and answers those that it may still know. They keep no binding from going away. */
  async #withdraw(on: BoundTo, hosts: readonly string[]): Promise<string[]> {
    const { store, provider, logger } = this.#deps;
    if (hosts.length === 0) return [];
    const left = new Set(hosts);
    const notify = (host: string): Promise<void> =>
      bestEffort(logger, 'notifying a provider that a unit has gone', async () => {
        await provider.unit('unbindUnit', on, host);
        left.delete(host);
      });
    await Promise.all(hosts.map(notify));
    await store.transact((tx) => tx.updateBinding(on.binding.id, { unitHosts: [...left] }));
    return [...left];
  }

  /** What is left is found again after the next start. Providers that hang are to be given up before (Provider.close). */
  async close(): Promise<void> {
    this.#closed.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await Promise.all(this.#atWork.values());
  }

  get #pauses(): { readonly firstMs: number; readonly longestMs: number } {
    return this.#deps.pauses ?? PAUSES;
  }

  /** The first pause is short for each of them, however long those are of what has failed for hours. */
  #later(attempts: number): void {
    if (attempts === 0) {
      this.#pauseMs = this.#pauses.firstMs;
      if (this.#timer !== null) clearTimeout(this.#timer);
      this.#timer = null;
    }
    this.#schedule(this.#pauseMs);
  }

  #schedule(delayMs: number): void {
    if (this.#closed.signal.aborted || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void bestEffort(this.#deps.logger, 'undoing what was not finished at providers', () => this.#again());
    }, delayMs);
    this.#timer.unref();
  }

  async #again(): Promise<void> {
    let isDone = false;
    try {
      this.#begin(await this.find());
      isDone = (await this.#unfinished()).length === 0;
    } finally {
      if (!isDone) {
        this.#pauseMs = Math.min(this.#pauses.longestMs, this.#pauseMs * 2);
        this.#schedule(this.#pauseMs);
      }
    }
  }

  /** At every provider that nobody is asking yet. */
  #begin(found: readonly Orphan[]): void {
    if (this.#closed.signal.aborted) return;
    for (const [service, orphans] of Map.groupBy(found, ({ service: name }) => name)) {
      if (this.#atWork.has(service)) continue;
      const work = this.#tryEach(orphans).finally(() => this.#atWork.delete(service));
      this.#atWork.set(service, work);
    }
  }

  async #tryEach(orphans: readonly Orphan[]): Promise<void> {
    // Those that were tried least come first, so that none waits for ever.
    const waiting = orphans.toSorted((a, b) => a.attempts - b.attempts);
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        if (this.#closed.signal.aborted) return;
        const failure = await this.#tryOne(next);
        // The others would wait as long; they come first the next time.
        if (failure?.code === 'timeout') waiting.length = 0;
      }
    };
    await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, waiting.length) }, work));
  }

  /** Tries one of them. Null when it is gone, otherwise why not. Throws PlatformError `app.busy` when somebody is at work on it. */
  async undo({ kind, id, instance, app }: Orphan): Promise<EndpointFailure | null> {
    const { leases, store } = this.#deps;
    const options = { waitMs: LEASE_WAIT_MS, holder: HOLDER };
    if (kind === 'instance') return leases.hold(instanceLease(instance), options, () => this.undoInstance(id));
    const binding = await store.binding(id);
    if (binding === null) return null;
    return leases.hold(bindingLease(binding.instance, app), options, () => this.undoBinding(id));
  }

  async #tryOne(orphan: Orphan): Promise<EndpointFailure | null> {
    try {
      return await this.undo(orphan);
    } catch (error) {
      const { kind, id } = orphan;
      if (!isPlatformError(error, 'app.busy'))
        this.#deps.logger.warn({ err: error, kind, id }, 'undoing what was not finished failed');
      return null;
    }
  }
}

function orphanOf(instance: InstanceSummary | null, binding: BindingSummary | null): Orphan {
  const { id, createdAt, attempts, problem } = binding ?? instance ?? NOTHING;
  return {
    kind: binding === null ? 'instance' : 'binding',
    id,
    service: instance?.service ?? '',
    instance: instance?.name ?? '',
    app: binding?.app ?? '',
    since: createdAt,
    attempts,
    problem,
  };
}

const NOTHING = { id: '', createdAt: '', attempts: 0, problem: '' };

async function failureOf(asking: Promise<void>): Promise<EndpointFailure | null> {
  try {
    await asking;
    return null;
  } catch (thrown) {
    if (thrown instanceof EndpointFailure) return thrown;
    throw thrown;
  }
}
