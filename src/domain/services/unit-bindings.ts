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
import { notifiedHosts, UNCONFIRMED } from './service.ts';
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
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #isClosed = false;
  /** Passes in a row that did not reach everybody. */
  #failures = 0;

  constructor(deps: UnitBindingsDeps) {
    this.#deps = deps;
  }

  /** Called whenever the units that serve may have changed. */
  changed(): void {
    this.#failures = 0;
    this.#schedule(this.#deps.gatherMs ?? GATHER_MS);
  }

  /** Resolves when no provider has to be notified. */
  async idle(): Promise<void> {
    while (this.#timer !== null || this.#running !== null) {
      await (this.#running ?? new Promise((resolve) => setTimeout(resolve, 1)));
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#running;
  }

  #schedule(delayMs: number): void {
    if (this.#isClosed || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#run();
    }, delayMs);
    this.#timer.unref();
  }

  async #run(): Promise<void> {
    const { logger, retryMs = RETRY_MS } = this.#deps;
    if (this.#running !== null) return this.#schedule(retryMs);
    let isDone = false;
    this.#running = bestEffort(logger, 'notifying providers of units', async () => {
      isDone = await this.#all();
    }).finally(() => {
      this.#running = null;
    });
    await this.#running;
    if (isDone || this.#failures >= ATTEMPTS) return;
    this.#schedule(retryMs * 2 ** this.#failures);
    this.#failures += 1;
  }

  /** True when everybody knows. */
  async #all(): Promise<boolean> {
    const { store } = this.#deps;
    const bound = (await store.bindings()).filter(({ state }) => state === 'bound');
    if (bound.length === 0) return true;
    const apps = new Map((await store.apps()).map((app) => [app.name, app]));
    const units = await store.unitsByApp();
    let isDone = true;
    for (const { id, instance, app: name, unitHosts: notified } of bound) {
      if (this.#isClosed) return true;
      const app = apps.get(name);
      const hosts = app === undefined ? [] : servingHosts(app, units.get(name) ?? []);
      if (hosts.join() === notified.join()) continue;
      if (!(await this.#notify(id, instance, name))) isDone = false;
    }
    return isDone;
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
