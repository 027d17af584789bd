/**
 * Notifies providers of the units of an app that have come and gone since the last time. What fails is noted in the app's log,
 * tried again a few times and with the next change, and fails nothing: providers that let in by address are few.
 */
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { isPlatformError } from '../errors.ts';
import type { Leases } from '../leases.ts';
import type { Journal } from '../logs/journal.ts';
import type { Store } from '../store.ts';
import { bindingLease } from './orphans.ts';
import type { BoundTo, Provider } from './provider.ts';
import { type BindingSummary, notifiedHosts, UNCONFIRMED } from './service.ts';
import { EndpointFailure } from './service-endpoint.ts';
import { servingHosts, unitHosts } from './unit-hosts.ts';

interface UnitBindingsDeps {
  readonly store: Store;
  readonly provider: Provider;
  readonly leases: Leases;
  readonly journal: Journal;
  readonly logger: Logger;
  /** Changes within this time are reported together; 250 ms when absent. */
  readonly gatherMs?: number;
  /** Before what failed is tried again, doubled each time; 2 s when absent. */
  readonly retryMs?: number;
}

const GATHER_MS = 250;
const RETRY_MS = 2_000;
const ATTEMPTS = 6;

export class UnitBindings {
  readonly #deps: UnitBindingsDeps;
  #timer: { readonly at: number; readonly timeout: NodeJS.Timeout } | null = null;
  #looking: Promise<void> | null = null;
  /** What is under way, by service: a provider that hangs holds up nobody but itself. */
  readonly #atWork = new Map<string, Promise<void>>();
  /** Services with changes that came while their provider was being notified. */
  readonly #missed = new Set<string>();
  /** Times in a row that the provider of a service was not reached, since the last change. */
  readonly #failures = new Map<string, number>();
  #isClosed = false;

  constructor(deps: UnitBindingsDeps) {
    this.#deps = deps;
  }

  /** Called whenever the units that serve may have changed. */
  changed(): void {
    this.#failures.clear();
    this.#schedule(this.#gatherMs);
  }

  /** Resolves when no provider has to be notified. */
  async idle(): Promise<void> {
    while (this.#timer !== null || this.#looking !== null || this.#atWork.size > 0) {
      const [first] = this.#atWork.values();
      await (this.#looking ?? first ?? new Promise((resolve) => setTimeout(resolve, 1)));
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer.timeout);
    this.#timer = null;
    await this.#looking;
    await Promise.all(this.#atWork.values());
  }

  get #gatherMs(): number {
    return this.#deps.gatherMs ?? GATHER_MS;
  }

  /** The sooner of two times holds: what is tried again much later must keep no change waiting. */
  #schedule(delayMs: number): void {
    const at = performance.now() + delayMs;
    if (this.#isClosed || (this.#timer !== null && this.#timer.at <= at)) return;
    if (this.#timer !== null) clearTimeout(this.#timer.timeout);
    const timeout = setTimeout(() => {
      this.#timer = null;
      void this.#look();
    }, delayMs);
    timeout.unref();
    this.#timer = { at, timeout };
  }

  async #look(): Promise<void> {
    const { logger, retryMs = RETRY_MS } = this.#deps;
    if (this.#looking !== null) return this.#schedule(this.#gatherMs);
    let isDone = false;
    this.#looking = bestEffort(logger, 'notifying providers of units', async () => {
      for (const [service, bindings] of await this.#outdated()) this.#begin(service, bindings);
      isDone = true;
    }).finally(() => {
      this.#looking = null;
    });
    await this.#looking;
    if (!isDone) this.#schedule(retryMs);
  }

  /** By service, the bindings whose provider knows other units than those that serve. */
  async #outdated(): Promise<Map<string, BindingSummary[]>> {
    const { store } = this.#deps;
    const bound = (await store.bindingSummaries()).filter(({ state }) => state === 'bound');
    const found = new Map<string, BindingSummary[]>();
    if (bound.length === 0) return found;
    const apps = new Map((await store.apps()).map((app) => [app.name, app]));
    const services = new Map((await store.instances()).map(({ id, service }) => [id, service]));
    const units = await store.unitsByApp();
    for (const binding of bound) {
      const app = apps.get(binding.app);
      const hosts = app === undefined ? [] : servingHosts(app, units.get(binding.app) ?? []);
      if (hosts.join() === binding.unitHosts.join()) continue;
      const service = services.get(binding.instance) ?? '';
      found.set(service, [...(found.get(service) ?? []), binding]);
    }
    return found;
  }

  #begin(service: string, bindings: readonly BindingSummary[]): void {
    if (this.#isClosed) return;
    if (this.#atWork.has(service)) return void this.#missed.add(service);
    const work = this.#notifyAll(service, bindings).finally(() => {
      this.#atWork.delete(service);
      if (this.#missed.delete(service)) this.#schedule(this.#gatherMs);
    });
    this.#atWork.set(service, work);
  }

  async #notifyAll(service: string, bindings: readonly BindingSummary[]): Promise<void> {
    const { logger, retryMs = RETRY_MS } = this.#deps;
    let isDone = false;
    await bestEffort(logger, 'notifying a provider of units', async () => {
      let failed = 0;
      for (const { id, instance, app } of bindings) {
        if (this.#isClosed) return;
        if (!(await this.#notify(id, instance, app))) failed += 1;
      }
      isDone = failed === 0;
    });
    const failures = this.#failures.get(service) ?? 0;
    if (isDone || failures >= ATTEMPTS) return;
    this.#failures.set(service, failures + 1);
    this.#schedule(retryMs * 2 ** failures);
  }

  /** Not while the pair is being bound or unbound: a unit must not be let in after that. */
  async #notify(id: string, instanceId: string, app: string): Promise<boolean> {
    const { store, leases, retryMs = RETRY_MS } = this.#deps;
    const options = { waitMs: retryMs, holder: 'notifying the provider of units' };
    try {
      return await leases.hold(bindingLease(instanceId, app), options, async () => {
        const binding = await store.binding(id);
        const instance = binding === null ? null : await store.instanceById(binding.instance);
        const service = instance === null ? null : await store.service(instance.service);
        if (binding?.state !== 'bound' || instance === null || service === null) return true;
        const hosts = await unitHosts(store, app);
        const on = { service, instance, binding };
        const notified = new Set(binding.unitHosts.filter((host) => !host.startsWith(UNCONFIRMED)));
        const unsure = new Set(notifiedHosts(binding).filter((host) => !notified.has(host)));
        for (const host of hosts) if (!notified.has(host)) unsure.add(host);
        await this.#remember(id, notified, unsure);
        for (const host of hosts.filter((each) => unsure.has(each))) {
          if (!(await this.#one('bindUnit', on, host))) continue;
          unsure.delete(host);
          notified.add(host);
        }
        for (const host of [...notified, ...unsure].filter((each) => !hosts.includes(each))) {
          if (!(await this.#one('unbindUnit', on, host))) continue;
          unsure.delete(host);
          notified.delete(host);
        }
        await this.#remember(id, notified, unsure);
        return unsure.size === 0 && notified.size === hosts.length;
      });
    } catch (error) {
      if (isPlatformError(error, 'app.busy')) return false;
      throw error;
    }
  }

  async #remember(id: string, notified: ReadonlySet<string>, unsure: ReadonlySet<string>): Promise<void> {
    const unitHosts = [...notified, ...[...unsure].map((host) => UNCONFIRMED + host)];
    await this.#deps.store.transact((tx) => tx.updateBinding(id, { unitHosts }));
  }

  async #one(what: 'bindUnit' | 'unbindUnit', on: BoundTo, host: string): Promise<boolean> {
    const { provider, journal } = this.#deps;
    try {
      await provider.unit(what, on, host);
      return true;
    } catch (error) {
      if (!(error instanceof EndpointFailure)) throw error;
      const change = what === 'bindUnit' ? 'a new unit' : 'a unit that has gone';
      await journal.note(on.binding.app, `${on.instance.name} could not be notified of ${change}: ${error.message}`);
      return false;
    }
  }
}
