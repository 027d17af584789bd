/**
 * Tells providers which units of an app have come and gone since they were told last. What fails is noted in the app's log and
 * fails nothing: providers that let in by address are few, and the next change is a new chance.
 */
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { isPlatformError } from '../errors.ts';
import type { Leases } from '../leases.ts';
import type { Journal } from '../logs/journal.ts';
import type { Store } from '../store.ts';
import { unitHosts } from './bindings.ts';
import { bindingLease } from './orphans.ts';
import type { BoundTo, Provider } from './provider.ts';
import { EndpointFailure } from './service-endpoint.ts';

export interface UnitBindingsDeps {
  readonly store: Store;
  readonly provider: Provider;
  readonly leases: Leases;
  readonly journal: Journal;
  readonly logger: Logger;
  /** Changes within this time are told together; 250 ms when absent. */
  readonly gatherMs?: number;
}

const GATHER_MS = 250;
const BUSY_MS = 2_000;

export class UnitBindings {
  readonly #deps: UnitBindingsDeps;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #isClosed = false;

  constructor(deps: UnitBindingsDeps) {
    this.#deps = deps;
  }

  /** Called whenever the units that serve may have changed. */
  changed(): void {
    this.#schedule(this.#deps.gatherMs ?? GATHER_MS);
  }

  /** Resolves when nothing is to be told. */
  async idle(): Promise<void> {
    while (this.#timer !== null || this.#running !== null) {
      await (this.#running ?? new Promise((resolve) => setTimeout(resolve, 1)));
    }
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
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
    if (this.#running !== null) return this.#schedule(BUSY_MS);
    this.#running = bestEffort(this.#deps.logger, 'telling providers of units', () => this.#all()).finally(() => {
      this.#running = null;
    });
    await this.#running;
  }

  async #all(): Promise<void> {
    const { store } = this.#deps;
    for (const binding of await store.bindings()) {
      if (this.#isClosed) return;
      if (binding.state !== 'bound') continue;
      const hosts = await unitHosts(store, binding.app);
      if (hosts.join() !== binding.unitHosts.join()) await this.#tell(binding.id, binding.instance, binding.app);
    }
  }

  /** Not while the pair is being bound or unbound: a unit must not be let in after that. */
  async #tell(id: string, instanceId: string, app: string): Promise<void> {
    const { store, leases } = this.#deps;
    const options = { waitMs: BUSY_MS, holder: 'telling the provider of units' };
    try {
      await leases.hold(bindingLease(instanceId, app), options, async () => {
        const binding = await store.binding(id);
        const instance = binding === null ? null : await store.instanceById(binding.instance);
        const service = instance === null ? null : await store.service(instance.service);
        if (binding?.state !== 'bound' || instance === null || service === null) return;
        const hosts = await unitHosts(store, app);
        const on = { service, instance, binding };
        for (const host of hosts.filter((each) => !binding.unitHosts.includes(each)))
          await this.#one('bindUnit', on, host);
        for (const host of binding.unitHosts.filter((each) => !hosts.includes(each))) {
          await this.#one('unbindUnit', on, host);
        }
        await store.transact((tx) => tx.updateBinding(id, { unitHosts: hosts }));
      });
    } catch (error) {
      if (!isPlatformError(error, 'app.busy')) throw error;
      this.#schedule(BUSY_MS);
    }
  }

  async #one(what: 'bindUnit' | 'unbindUnit', on: BoundTo, host: string): Promise<void> {
    const { provider, journal } = this.#deps;
    try {
      await provider.unit(what, on, host);
    } catch (error) {
      if (!(error instanceof EndpointFailure)) throw error;
      const told = what === 'bindUnit' ? 'a new unit' : 'a unit that has gone';
      await journal.note(on.binding.app, `${on.instance.name} could not be told of ${told}: ${error.message}`);
    }
  }
}
